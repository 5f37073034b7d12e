"""`python -m skerry_runner.flush_memory`: what is due of a profile's memories becomes facts. The chart's CronJob runs it.

Exit code 0 when all that was due is done, 1 when some could not be, 2 when it was not started as the chart does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from skerry_api.agentprofile import AgentProfile
from skerry_api.defaults import apply_defaults
from skerry_api.document import API_KEY_ENV, DSN_ENV
from skerry_api.persistence import PersistenceType
from skerry_api.resolve import sketch
from skerry_runner.cluster.environment import SERVICE_ACCOUNT, BadEnvironment, api_server
from skerry_runner.cluster.http import read_profile
from skerry_runner.cluster.logs import configure_logs
from skerry_runner.outcome import Redactor

__all__ = ["Job", "flush", "main", "read_job"]

PROFILE_ENV = "SKERRY_PROFILE"
log = logging.getLogger("skerry_runner.flush_memory")


@dataclass(frozen=True)
class Job:
    """Whose memories, where they are, and how to reach what is needed."""

    namespace: str
    profile: str
    api_server: str
    service_account: Path
    dsn: str
    api_key: str | None


def read_job(env: Mapping[str, str]) -> Job:
    """Read the environment. Raises BadEnvironment, naming every variable that is missing."""
    faults = [f"{name} is not set" for name in ("POD_NAMESPACE", PROFILE_ENV, DSN_ENV) if not env.get(name)]
    server = api_server(env)
    if server is None:
        faults.append("KUBERNETES_SERVICE_HOST is not set")
    if faults or server is None:
        raise BadEnvironment("; ".join(faults))
    return Job(
        namespace=env["POD_NAMESPACE"],
        profile=env[PROFILE_ENV],
        api_server=server,
        service_account=Path(env.get("SKERRY_SERVICE_ACCOUNT", SERVICE_ACCOUNT)),
        dsn=env[DSN_ENV],
        api_key=env.get(API_KEY_ENV) or None,
    )


async def flush(job: Job, hide: Callable[[Iterable[str | None]], None] = lambda _: None) -> bool:
    """Whether all that was due is done; `hide` is told what must not be logged. Raises what the API server, the store and the model raise."""
    raw = await read_profile(job.api_server, job.service_account, job.namespace, job.profile)
    document = sketch(AgentProfile.read(apply_defaults(raw)))
    # Much to import: not before it is known that there is something to do it for.
    from skerry_runner.memory.offline import flush_waiting
    from skerry_runner.memory.stores import store_at
    from skerry_runner.persistence.opening import StatePlace

    place = StatePlace(PersistenceType.POSTGRES, dsn=job.dsn)
    secrets = [job.api_key, *place.secrets()]
    hide(secrets)
    redact = Redactor(secrets)
    done = await flush_waiting(
        document, store_at(place), due=True, api_key=job.api_key, clock=lambda: datetime.now(UTC)
    )
    for each in done:
        words = f"{each.added} added, {each.removed} removed" if each.error is None else redact(each.error)
        log.info("%s/%s, thread %s: %s", each.key.user, each.key.agent, each.key.thread, words)
    return all(each.error is None for each in done)


def main() -> int:
    logs = configure_logs()
    try:
        job = read_job(os.environ)
    except BadEnvironment as error:
        print(f"skerry_runner.flush_memory runs in the chart's CronJob: {error}", file=sys.stderr)  # noqa: T201 - for people
        return 2
    logs.hide([job.api_key, job.dsn])
    try:
        return 0 if asyncio.run(flush(job, logs.hide)) else 1
    except Exception as error:  # noqa: BLE001 - one line is enough: the next run of the job tries again
        log.error("%s: %s", type(error).__name__, error)  # noqa: TRY400 - likewise
        return 1


if __name__ == "__main__":
    sys.exit(main())
