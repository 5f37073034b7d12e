"""The spawner: a bare, single-threaded process that forks a supervisor for every command.

sandboxd itself has threads and a loop, so it must not fork with code of its own in between. It sends the
spawner a request and five descriptors; the spawner forks a supervisor, which becomes a child subreaper and
forks the command. Whatever the command leaves behind stays below its supervisor, and can be found and ended.
The supervisor lives until its last descendant is gone, or until sandboxd's end of the status socket closes,
when it ends them all. Standard library only, no state, may be restarted at any time.

Run as `python -m skerry_sandboxd.spawner FD`. Status messages: {"started": pid, "supervisor": pid}, {"error": errno, "stage": s},
{"exit": wait status}.
"""

import array
import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from typing import Any, NoReturn

from skerry_sandboxd.hardening import become_subreaper, forbid_core_dumps, set_dumpable
from skerry_sandboxd.proctree import kill_descendants

__all__ = ["REQUEST_FDS", "main"]

# request (a memory file with JSON), stdin, stdout, stderr, status socket
REQUEST_FDS = 5
_OOM_SCORE = "900"
_NICE = 5  # when the CPU is short, sandboxd goes first: it may have to end what makes it short


def main(control_fd: int) -> None:
    """Serve until the control socket closes."""
    gc.disable()  # a collection would copy the pages that forks share
    forbid_core_dumps()
    with contextlib.suppress(OSError):
        set_dumpable(on=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # sandboxd decides; closing the socket ends us
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors need no reaping
    control = socket.socket(fileno=control_fd)
    while True:
        fds = _receive(control)
        if fds is None:
            return
        try:
            child = os.fork()
        except OSError as error:  # no more processes: this request fails, the next may not
            with socket.socket(fileno=os.dup(fds[-1])) as status:
                _tell(status, {"error": error.errno or 0, "stage": "fork"})
        else:
            if child == 0:
                control.close()
                _supervise(fds)
        for fd in fds:
            os.close(fd)


def _receive(control: socket.socket) -> list[int] | None:
    fds = array.array("i")
    data, ancillary, _flags, _ = control.recvmsg(
        16, socket.CMSG_SPACE(REQUEST_FDS * fds.itemsize), socket.MSG_CMSG_CLOEXEC
    )
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(payload[: len(payload) - len(payload) % fds.itemsize])
    if not data:
        return None
    if len(fds) != REQUEST_FDS:
        raise SystemExit(f"spawner: {len(fds)} descriptors came with a request")
    return list(fds)


def _supervise(fds: list[int]) -> NoReturn:
    code = 70
    try:
        request_fd, stdin, stdout, stderr, status_fd = fds
        status = socket.socket(fileno=status_fd)
        os.setsid()
        become_subreaper()
        with os.fdopen(request_fd, "rb") as file:
            file.seek(0)
            request = json.load(file)
        wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        main_pid = _start(request, (stdin, stdout, stderr), status)
        for fd in (stdin, stdout, stderr):
            os.close(fd)
        _hold(main_pid, status, wake_read)
        code = 0
    finally:
        os._exit(code)


def _hold(main_pid: int, status: socket.socket, wake_read: int) -> None:
    """Reap until nothing is left below us."""
    watched: list[Any] = [wake_read, status]
    while _reap(main_pid, status):
        ready, _, _ = select.select(watched, [], [])
        if wake_read in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(wake_read, 4096)
        if status in ready:
            with contextlib.suppress(OSError):
                if status.recv(16):
                    continue
            # sandboxd is gone: nobody would ever end these.
            watched = [wake_read]
            kill_descendants(os.getpid())


def _reap(main_pid: int, status: socket.socket) -> bool:
    """Reap what has ended; False when no child is left."""
    while True:
        try:
            pid, code = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        if pid == main_pid:
            _tell(status, {"exit": code})


def _start(request: dict[str, Any], stdio: tuple[int, int, int], status: socket.socket) -> int:
    error_read, error_write = os.pipe2(os.O_CLOEXEC)
    try:
        pid = os.fork()
    except OSError as error:
        _tell(status, {"error": error.errno or 0, "stage": "fork"})
        raise
    if pid == 0:
        _become(request, stdio, error_write)
    os.close(error_write)
    with os.fdopen(error_read, "rb") as pipe:
        failure = pipe.read(256)
    _tell(status, json.loads(failure) if failure else {"started": pid, "supervisor": os.getpid()})
    return pid


def _become(request: dict[str, Any], stdio: tuple[int, int, int], error_write: int) -> NoReturn:
    """In the child: turn into the command. Never returns."""
    stage = "prepare"
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        # Readable /proc/self again, then first in line when memory runs out: rather the command than sandboxd.
        with contextlib.suppress(OSError):
            set_dumpable(on=True)
            with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123  # one write
                file.write(_OOM_SCORE)
        os.umask(0o022)
        os.nice(_NICE)
        for target, fd in enumerate(stdio):
            os.dup2(fd, target, inheritable=True)
        script = request.get("script")
        if script is not None:
            _memory_file_at(script.encode("utf-8"), request["scriptFd"])
        stage = "cwd"
        os.chdir(request["cwd"])
        stage = "exec"
        os.execve(request["argv"][0], request["argv"], request["env"])  # noqa: S606  # no shell is meant
    except OSError as error:
        os.write(error_write, json.dumps({"error": error.errno or 0, "stage": stage}).encode("ascii"))
    finally:
        os._exit(127)


def _memory_file_at(data: bytes, number: int) -> None:
    fd = os.memfd_create("command", 0)
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    os.dup2(fd, number, inheritable=True)
    if fd != number:
        os.close(fd)


def _tell(status: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        status.send(json.dumps(message).encode("ascii"))


if __name__ == "__main__":
    main(int(sys.argv[1]))
