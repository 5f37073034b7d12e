"""A real Postgres on this machine, for tests: of Debian's package, as an unprivileged user, with nothing to be skipped."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from skerry_devcluster.packages import ensure_packages
from skerry_devcluster.progress import Progress, Timings

__all__ = ["PASSWORD", "Postgres", "postgres_server"]

PASSWORD = "pass/word:of@postgres"
USER = "skerry"
_ROOT = Path("/usr/lib/postgresql")
_numbers = count(1)


def _programs() -> Path:
    """The newest installed version's programs; installed first where there are none."""
    with tempfile.TemporaryDirectory() as directory:
        progress = Progress(Timings(Path(directory) / "timings.json"))
        ensure_packages({str(_ROOT): "postgresql"}, progress)
    return max(_ROOT.glob("*/bin"), key=lambda path: float(path.parent.name))


def _account() -> pwd.struct_passwd | None:
    """Whom the server runs as: it refuses root."""
    return pwd.getpwnam("postgres") if os.geteuid() == 0 else None


class Postgres:
    """One server; may be stopped and started again. Databases are made by `database`."""

    def __init__(self, directory: Path, address: str, port: int) -> None:
        self._directory, self._address, self._port = directory, address, port
        self._programs, self._account = _programs(), _account()

    def create(self) -> None:
        if self._account is not None:
            os.chown(self._directory, self._account.pw_uid, self._account.pw_gid)
        secret = self._directory / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._do(
            "initdb",
            "-U",
            USER,
            f"--pwfile={secret}",
            "--auth=scram-sha-256",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        )
        secret.unlink()
        settings = {
            "port": self._port, "listen_addresses": self._address, "unix_socket_directories": str(self._directory),
            "fsync": "off", "max_connections": 60,
        }  # fmt: skip
        with (self._directory / "data" / "postgresql.auto.conf").open("a") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        with (self._directory / "data" / "pg_hba.conf").open("a") as hba:
            hba.write("host all all all scram-sha-256\n")  # By itself it lets in loopback alone.

    def start(self) -> None:
        """Return when it takes connections."""
        self._do("pg_ctl", "-w", "-t", "60", "-l", str(self._directory / "log"), "start")

    def stop(self) -> None:
        """At once, as if its machine were gone."""
        self._do("pg_ctl", "-w", "-t", "60", "-m", "immediate", "stop")

    def database(self) -> str:
        """The connection string of a new, empty database."""
        name = f"test{next(_numbers)}"
        with psycopg.connect(self.dsn("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.dsn(name)

    def dsn(self, database: str, password: str = PASSWORD) -> str:
        return f"postgresql://{USER}:{quote(password, safe='')}@{self._address}:{self._port}/{database}"

    def _do(self, program: str, *args: str) -> None:
        # Not to pipes: the server would inherit them, and the call would last as long as it.
        with (self._directory / "out").open("a") as out:
            done = subprocess.run(
                [self._programs / program, "-D", self._directory / "data", *args],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False, cwd=self._directory,
                user=self._account.pw_uid if self._account else None,
                group=self._account.pw_gid if self._account else None,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            )  # fmt: skip
        if done.returncode != 0:
            raise AssertionError(f"{program} failed:\n{(self._directory / 'out').read_text()[-2000:]}")


def _free_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        return int(probe.getsockname()[1])


@contextmanager
def postgres_server(address: str = "127.0.0.1") -> Iterator[Postgres]:
    """A server on an address of this machine, that is gone afterwards, with all it held."""
    # Not below pytest's directory: only its owner may enter that one.
    directory = Path(tempfile.mkdtemp(prefix="skerry-postgres-"))
    try:
        server = Postgres(directory, address, _free_port(address))
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
