"""The few prctl(2) calls that sandboxd makes on itself. Standard library only: the spawner imports this too."""

import ctypes
import os
import resource
from typing import Final

__all__ = ["become_subreaper", "forbid_core_dumps", "set_dumpable"]

_PR_SET_DUMPABLE: Final = 4
_PR_SET_CHILD_SUBREAPER: Final = 36

_LIBC: Final = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(ctypes.c_int(option), ctypes.c_ulong(value), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")


def set_dumpable(*, on: bool) -> None:
    """Off: /proc/self belongs to root, so code of our uid can't read our memory, environment or descriptors.

    Raises OSError.
    """
    _prctl(_PR_SET_DUMPABLE, int(on))


def become_subreaper() -> None:
    """Orphaned descendants are re-parented to us instead of to PID 1; not inherited by fork. Raises OSError."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def forbid_core_dumps() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
