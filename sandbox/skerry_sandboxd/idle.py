"""When the sandbox was last used, and by whom. The operator asking does not count."""

from skerry_api.sandboxd_api import User
from skerry_sandboxd.clock import Clock

__all__ = ["IdleClock"]


class IdleClock:
    """A stamp, and a count of commands that run: while one does, nobody is idle."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stamp = clock.monotonic()
        self._active = 0
        self.last_user: User | None = None

    def touch(self, user: User) -> None:
        if user is not User.OPERATOR:
            self._stamp = self._clock.monotonic()
            self.last_user = user

    def begin(self) -> None:
        self._active += 1

    def end(self) -> None:
        self._active -= 1
        self._stamp = self._clock.monotonic()

    def seconds(self) -> float:
        return 0.0 if self._active else max(0.0, self._clock.monotonic() - self._stamp)
