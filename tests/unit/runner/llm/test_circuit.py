"""The circuit breaker as a value."""

from __future__ import annotations

import pytest

from skerry_api.rows.llmerrorhandling import CircuitSettings
from skerry_runner.llm.circuit import (
    Circuit,
    CircuitState,
    Permit,
    admit,
    gave_back,
    succeeded,
    used_up,
)

SETTINGS = CircuitSettings(failures=2, open_seconds=60)


def let_through(circuit: Circuit, now: float) -> tuple[Circuit, Permit]:
    admission = admit(circuit, now)
    assert admission.permit is not None
    return admission.circuit, admission.permit


def opened(now: float = 0.0) -> Circuit:
    circuit = Circuit()
    for _ in range(2):
        circuit, permit = let_through(circuit, now)
        circuit = used_up(circuit, permit, now, SETTINGS)
    assert (circuit.state, circuit.failures) == (CircuitState.OPEN, 2)
    return circuit


def test_closed_lets_all_through_and_counts_failures_in_a_row() -> None:
    circuit, first = let_through(Circuit(), 0.0)
    circuit, second = let_through(circuit, 0.0)
    circuit = used_up(circuit, first, 0.0, SETTINGS)
    assert (circuit.state, circuit.failures) == (CircuitState.CLOSED, 1)
    circuit = succeeded(circuit, second)
    assert (circuit.state, circuit.failures) == (CircuitState.CLOSED, 0)


def test_giving_back_while_closed_counts_nothing() -> None:
    circuit, permit = let_through(Circuit(failures=1), 0.0)
    assert gave_back(circuit, permit) == circuit


def test_open_refuses_and_says_for_how_long() -> None:
    circuit = opened()
    for now, wait in ((0.0, 60.0), (59.5, 0.5)):
        admission = admit(circuit, now)
        assert (admission.permit, admission.wait, admission.circuit) == (None, wait, circuit)


def test_half_open_lets_one_through() -> None:
    circuit, _ = let_through(opened(), 60.0)
    assert circuit.state is CircuitState.HALF_OPEN
    again = admit(circuit, 61.0)
    assert (again.permit, again.circuit) == (None, circuit)


def test_a_probe_that_succeeds_closes() -> None:
    circuit, permit = let_through(opened(), 60.0)
    closed = succeeded(circuit, permit)
    assert (closed.state, closed.failures, closed.probing) == (CircuitState.CLOSED, 0, False)


def test_a_probe_that_fails_opens_again_for_the_whole_time() -> None:
    circuit, permit = let_through(opened(), 60.0)
    again = used_up(circuit, permit, 70.0, SETTINGS)
    assert (again.state, again.open_until) == (CircuitState.OPEN, 130.0)


def test_a_probe_given_back_leaves_room_for_the_next() -> None:
    circuit, permit = let_through(opened(), 60.0)
    free = gave_back(circuit, permit)
    assert (free.state, free.probing) == (CircuitState.HALF_OPEN, False)
    circuit, permit = let_through(free, 60.0)
    assert succeeded(circuit, permit).state is CircuitState.CLOSED


@pytest.mark.parametrize("state", ["open", "half-open", "closed again"])
def test_a_call_from_before_a_change_changes_nothing(state: str) -> None:
    stale = Permit(0)
    circuit = opened()
    if state != "open":
        circuit, probe = let_through(circuit, 60.0)
        if state == "closed again":
            circuit = succeeded(circuit, probe)
    assert succeeded(circuit, stale) is circuit
    assert used_up(circuit, stale, 99.0, SETTINGS) is circuit
    assert gave_back(circuit, stale) is circuit
