"""Who may still speak: the newest epoch of the newest run.

Epochs count within one run, but a parked sandbox serves one run of its thread after the other. So the fence
is two rules: within a run no epoch lower than one seen; and once a run with a newer grant has spoken, the
older run is out, unless it comes back with a grant issued later still.
"""

from dataclasses import dataclass

from skerry_api.grants import Grant, GrantRole

__all__ = ["Fence"]


@dataclass(frozen=True)
class _Holder:
    run: str
    epoch: int
    issued: int


class Fence:
    """Remembers the holder; `admit` is asked with every runner's grant that has proved itself."""

    def __init__(self) -> None:
        self._holder: _Holder | None = None
        self._past: dict[str, int] = {}

    def admit(self, grant: Grant) -> str | None:
        """None if the grant may be used, else why not. The operator is outside of epochs."""
        if grant.role is GrantRole.OPERATOR or grant.run is None:
            return None
        caller = _Holder(grant.run.uid, grant.epoch, grant.iat)
        now = self._holder
        if now is None:
            self._holder = caller
        elif caller.run == now.run:
            if caller.epoch < now.epoch:
                return f"epoch {caller.epoch} of the run is over; epoch {now.epoch} has been here"
            self._holder = _Holder(now.run, caller.epoch, max(caller.issued, now.issued))
        else:
            # A run we never saw may tie in the second with its predecessor; one that was here must be newer.
            newer = caller.issued > now.issued or (
                caller.issued == now.issued and caller.run not in self._past
            )
            if not newer or caller.epoch < self._past.get(caller.run, 0):
                return "another run of the thread has taken over the sandbox"
            self._past[now.run] = now.epoch
            self._holder = caller
        return None
