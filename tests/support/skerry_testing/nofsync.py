"""Has the kernel refuse fsync with EIO, as it does when a disk goes bad: for one thread and those that it starts."""

from __future__ import annotations

import ctypes
import errno
import os
import platform

__all__ = ["refuse_fsync"]

NUMBERS = {"x86_64": 74, "aarch64": 82}
"""Of the system call."""
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW = 0x0005_0000 | errno.EIO, 0x7FFF_0000


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("k", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction)))


def refuse_fsync() -> None:
    """From now on, in this thread and for good: run it in a thread of its own."""
    rules = (
        _Instruction(LOAD_NUMBER, 0, 0, 0),
        _Instruction(JUMP_IF_EQUAL, 0, 1, NUMBERS[platform.machine()]),
        _Instruction(RETURN, 0, 0, REFUSE),
        _Instruction(RETURN, 0, 0, ALLOW),
    )
    program = _Program(len(rules), (_Instruction * len(rules))(*rules))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*call) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
