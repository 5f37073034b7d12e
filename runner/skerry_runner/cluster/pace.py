"""When the next report is due, and whether an error is worth another try. Pure, so that tables can test it."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_runner.cluster.port import ApiConflict, ApiForbidden, ApiUnauthorized, ApiUnavailable

__all__ = ["Pace", "due_in", "worth_retrying"]


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds all.

    progress: between two writes of mere progress. forbidden: how long a 403 is taken for early, since the
    operator may not have written our Pod's UID yet. unauthorized: how long nothing but 401 is taken for a token that
    is being renewed, and not for a ServiceAccount that was deleted. final: for the terminal report, while the API server may be
    gone. leaving: for the same after SIGTERM, within the Pod's grace of 30 s. backoff_*: between tries.
    """

    progress: float = 15
    forbidden: float = 30
    unauthorized: float = 60
    final: float = 600
    leaving: float = 15
    backoff_first: float = 0.2
    backoff_most: float = 10


def due_in(*, changed: bool, urgent: bool, written: float | None, now: float, pace: Pace) -> float | None:
    """Seconds until the next write: None when there is nothing to say, 0 when it is due.

    `written` is when the last write was made, on the same clock as `now`; the first one is due at once.
    """
    if not changed:
        return None
    if urgent or written is None:
        return 0
    return max(0.0, written + pace.progress - now)


def worth_retrying(
    error: BaseException, *, named: bool, running_for: float, unauthorized_for: float, pace: Pace
) -> bool:
    """Whether the same write may succeed later.

    `named` says whether status names our Pod. Until it does the admission policy must refuse us, however long
    the operator takes; once it does, its informers may still lag for a moment. `unauthorized_for`: since when
    every answer was 401.
    """
    if isinstance(error, ApiForbidden):
        return not named or running_for < pace.forbidden
    if isinstance(error, ApiUnauthorized):
        return unauthorized_for < pace.unauthorized
    return isinstance(error, ApiUnavailable | ApiConflict)
