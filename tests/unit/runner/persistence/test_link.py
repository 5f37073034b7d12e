"""Which errors of a database may pass, and what of a connection string is secret."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from skerry_runner.persistence.dsn import parsed, password_of
from skerry_runner.persistence.errors import StateFenced, StateUnusable
from skerry_runner.persistence.link import passes
from skerry_runner.persistence.opening import StatePlace


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError(), ConnectionResetError(), psycopg.OperationalError("connection refused"),
        psycopg.OperationalError("FATAL:  the database system is starting up"),
        psycopg.OperationalError("FATAL:  sorry, too many clients already"), psycopg.InterfaceError("closed"),
        errors.AdminShutdown(), errors.SerializationFailure(), errors.DeadlockDetected(),
        errors.ReadOnlySqlTransaction(), errors.DiskFull(),
    ],
    ids=lambda error: f"{type(error).__name__} {error}",
)  # fmt: skip
def test_what_may_pass_is_tried_again(error: Exception) -> None:
    assert passes(error)


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError('FATAL:  password authentication failed for user "u"'),
        psycopg.OperationalError('FATAL:  database "x" does not exist'),
        psycopg.OperationalError('FATAL:  role "u" does not exist'),
        psycopg.OperationalError('FATAL:  no pg_hba.conf entry for host "192.0.2.1"'),
        errors.InsufficientPrivilege(), errors.UndefinedTable(), errors.SyntaxError(), StateFenced(), ValueError(),
    ],
    ids=lambda error: f"{type(error).__name__} {error}",
)  # fmt: skip
def test_what_is_refused_is_not(error: Exception) -> None:
    assert not passes(error)


@pytest.mark.parametrize("dsn", ["postgresql://u:s%2Fecret@h/d", "host=h user=u password=s/ecret"])
def test_the_password_is_found_as_it_is_sent(dsn: str) -> None:
    assert password_of(dsn) == "s/ecret"
    assert StatePlace(dsn=dsn).secrets() == (dsn, "s/ecret")
    assert "ecret" not in repr(StatePlace(dsn=dsn))


def test_a_string_that_is_none_is_not_quoted() -> None:
    with pytest.raises(StateUnusable) as caught:
        parsed("postgres//u:s-ecret@h")
    assert "s-ecret" not in str(caught.value)
    assert password_of("postgres//u:s-ecret@h") is None
    assert StatePlace(dsn="postgres//u:s-ecret@h").secrets() == ("postgres//u:s-ecret@h",)
