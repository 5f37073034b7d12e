"""Where this Pod stands with its run, as the newest view has it: still its runner, told to cancel, or fenced."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_runner.cluster.environment import Identity
from skerry_runner.cluster.own_run import OwnRun
from skerry_runner.cluster.view import RunView, Verdict, names_us, verdict
from skerry_runner.ports import Cancellation, CancelReason

__all__ = ["Standing"]


@dataclass(frozen=True)
class Standing:
    """This Pod and its run. The waits need the run's `follow` to be running."""

    own: OwnRun
    identity: Identity
    run_uid: str

    def _verdict(self, view: RunView) -> Verdict:
        return verdict(view, self.identity, self.run_uid)

    @property
    def fenced(self) -> bool:
        """Whether the run is no longer ours."""
        return self._verdict(self.own.view) is Verdict.FENCED

    @property
    def named(self) -> bool:
        """Whether status names this Pod; until then the admission policy lets no report in."""
        return names_us(self.own.view, self.identity)

    async def until_fenced(self) -> None:
        await self.own.until(lambda view: self._verdict(view) is Verdict.FENCED or None)

    async def relay(self, cancellation: Cancellation) -> None:
        """Pass the first word to stop on to the core."""
        reasons = {Verdict.CANCEL: CancelReason.CANCELLED, Verdict.FENCED: CancelReason.FENCED}
        cancellation.request(await self.own.until(lambda view: reasons.get(self._verdict(view))))
