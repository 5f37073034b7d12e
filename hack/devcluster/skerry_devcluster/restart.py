"""Single components of an instance that is up: for tests of what survives their absence."""

from __future__ import annotations

from enum import StrEnum

from skerry_devcluster.errors import UsageError
from skerry_devcluster.layout import InstancePaths, Layout
from skerry_devcluster.progress import Progress
from skerry_devcluster.session import Session, instance_lock, prepare, require_up, session_of
from skerry_devcluster.up import wait_ready

__all__ = ["Change", "change"]


class Change(StrEnum):
    START = "start"
    STOP = "stop"
    RESTART = "restart"


def change(
    layout: Layout, paths: InstancePaths, what: Change, name: str, progress: Progress, *, kill: bool
) -> None:
    """Start, stop or restart one component and wait until that has come true.

    `kill` sends KILL at once. What is stopped stays so until `start` or `up`.

    Raises:
        UsageError: the instance is not up, or has no such component.
        StartError: the component did not get ready.
    """
    claim = require_up(paths)
    programs = prepare(claim.mode, layout, progress)
    with instance_lock(paths, progress):
        session = session_of(require_up(paths), paths, programs)
        _known(session, name)
        if what in {Change.STOP, Change.RESTART}:
            session.supervisor.stop([name], kill=kill)
        if what in {Change.START, Change.RESTART}:
            session.start(name)
            wait_ready(session, name)
    progress.say(f"{paths.name}: {name}: {what} done")


def _known(session: Session, name: str) -> None:
    if name not in session.components:
        raise UsageError(f"{name}: no such component; there are {', '.join(session.components)}")
