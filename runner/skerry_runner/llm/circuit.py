"""A circuit breaker as a value: closed lets calls through, open refuses them, half-open lets one through to try. Pure.

Outcomes of calls that were let through before the state changed say nothing of the present and are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from skerry_api.rows.llmerrorhandling import CircuitSettings

__all__ = ["Admission", "Circuit", "CircuitState", "Permit", "admit", "gave_back", "succeeded", "used_up"]


class CircuitState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@dataclass(frozen=True)
class Circuit:
    """`failures` in a row; `open_until` on the monotonic clock, in seconds; `era` grows with every change of state."""

    state: CircuitState = CircuitState.CLOSED
    failures: int = 0
    open_until: float = 0.0
    probing: bool = False
    era: int = 0


@dataclass(frozen=True)
class Permit:
    """A call was let through. Give it back exactly once: as success, as used up, or as neither."""

    era: int


@dataclass(frozen=True)
class Admission:
    """The circuit after asking, and the permit; without one, `wait` says for how long it is of no use to ask again."""

    circuit: Circuit
    permit: Permit | None
    wait: float = 0.0


def _to(
    circuit: Circuit, state: CircuitState, *, failures: int, open_until: float = 0.0, probing: bool = False
) -> Circuit:
    return Circuit(state, failures, open_until, probing, circuit.era + 1)


def admit(circuit: Circuit, now: float) -> Admission:
    """Ask to make a call."""
    if circuit.state is CircuitState.CLOSED:
        return Admission(circuit, Permit(circuit.era))
    if circuit.state is CircuitState.OPEN:
        if now < circuit.open_until:
            return Admission(circuit, None, circuit.open_until - now)
        circuit = _to(circuit, CircuitState.HALF_OPEN, failures=circuit.failures)
    if circuit.probing:
        return Admission(circuit, None)
    circuit = replace(circuit, probing=True)
    return Admission(circuit, Permit(circuit.era))


def succeeded(circuit: Circuit, permit: Permit) -> Circuit:
    """The call was answered."""
    if permit.era != circuit.era:
        return circuit
    if circuit.state is CircuitState.HALF_OPEN:
        return _to(circuit, CircuitState.CLOSED, failures=0)
    return replace(circuit, failures=0)


def used_up(circuit: Circuit, permit: Permit, now: float, settings: CircuitSettings) -> Circuit:
    """The call failed for the endpoint's sake, with all its attempts."""
    if permit.era != circuit.era:
        return circuit
    failures = circuit.failures + 1
    if circuit.state is CircuitState.HALF_OPEN or failures >= settings.failures:
        return _to(circuit, CircuitState.OPEN, failures=failures, open_until=now + settings.open_seconds)
    return replace(circuit, failures=failures)


def gave_back(circuit: Circuit, permit: Permit) -> Circuit:
    """The call ended without saying anything of the endpoint: cancelled, paused, or at fault itself."""
    if permit.era != circuit.era:
        return circuit
    return replace(circuit, probing=False)
