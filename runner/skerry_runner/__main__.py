"""`python -m skerry_runner`: one epoch of one run, in its Pod.

Exit code 0 when the run succeeded or awaits an answer, 1 for every other end, 2 when this is no runner Pod.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

from skerry_api.document import API_KEY_ENV, DSN_ENV, RunDocument
from skerry_api.guardrail import GUARDRAIL_HEADERS_ENV
from skerry_api.mcp import HEADERS_ENV_PREFIX
from skerry_api.persistence import PersistenceType
from skerry_api.phases import OutcomeClass
from skerry_runner.cluster.environment import BadEnvironment, Environment, read_environment
from skerry_runner.cluster.http import HttpRunPort
from skerry_runner.cluster.logs import JsonFormatter, configure_logs
from skerry_runner.cluster.session import Session
from skerry_runner.journal import FileSink, Journal, OnFault, Sink, StreamSink
from skerry_runner.ports import Ports, RunResult
from skerry_runner.pruning import JOURNAL, prune
from skerry_runner.stream.buffer import EventBuffer

log = logging.getLogger("skerry_runner")


def _header_secrets(document: RunDocument, headers: Mapping[str, str]) -> tuple[str, ...]:
    if not headers:
        return ()
    from skerry_runner.headers import header_values

    return header_values(document, headers)


def _place_secrets(dsn: str | None) -> tuple[str, ...]:
    if dsn is None:
        return ()
    from skerry_runner.persistence.opening import StatePlace

    return StatePlace(dsn=dsn).secrets()


def _open_journal(
    env: Environment,
    document: RunDocument,
    secrets: Sequence[str | None],
    *,
    live: EventBuffer,
    on_fault: OnFault,
) -> Journal:
    sinks: list[Sink] = [StreamSink(sys.stdout), live]
    missing = None
    if document.persistence is PersistenceType.VOLUME:
        prune(env.state, document.run.uid, document.keep_runs)
    try:
        sinks.append(FileSink(env.state / JOURNAL))
    except OSError as error:
        missing = f"{JOURNAL} can't be opened: {error.strerror or error}"
        log.warning("the journal goes to stdout alone: %s", missing)
    return Journal(
        sinks,
        run=document.run.uid,
        thread=document.thread_id,
        epoch=document.run.epoch,
        clock=lambda: datetime.now(UTC),
        secrets=secrets,
        on_fault=on_fault,
        missing=missing,
    )


async def _serve(env: Environment, logs: JsonFormatter) -> int:
    terminated = asyncio.Event()
    # At once: the kernel ignores signals of PID 1 that nobody handles.
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, terminated.set)
    api_key = os.environ.pop(API_KEY_ENV, None)
    dsn = os.environ.pop(DSN_ENV, None)
    # Likewise secrets: nothing that the process starts may find them.
    headers = {
        name: os.environ.pop(name)
        for name in tuple(os.environ)
        if name.startswith(HEADERS_ENV_PREFIX) or name == GUARDRAIL_HEADERS_ENV
    }
    booted = asyncio.create_task(asyncio.to_thread(_boot))
    live, over = EventBuffer(), asyncio.Event()
    watchable = asyncio.create_task(_serve_live(live, env.stream_port, over))

    async def carry_out(document: RunDocument, ports: Ports) -> RunResult:
        from skerry_runner.persistence.opening import StatePlace
        from skerry_runner.run import run_document

        await booted
        place = StatePlace(document.persistence, env.state, dsn)
        return await run_document(document, ports, api_key=api_key, environ=headers, place=place)

    identity = env.identity
    async with HttpRunPort(env.api_server, env.service_account, identity.namespace, identity.run) as port:
        secrets = [api_key, *_place_secrets(dsn)]
        logs.hide(secrets)

        def open_journal(document: RunDocument, on_fault: OnFault) -> Journal:
            every = [*secrets, *_header_secrets(document, headers)]
            logs.hide(every)
            return _open_journal(env, document, every, live=live, on_fault=on_fault)

        outcome = await Session(env, port, carry_out, open_journal, terminated, redact=logs.redact).run()
    live.close()
    over.set()
    await watchable
    log.info("ended: %s %s", outcome.class_.value, outcome.reason)
    return 0 if outcome.class_ in {OutcomeClass.SUCCEEDED, OutcomeClass.AWAITING_INPUT} else 1


async def _serve_live(buffer: EventBuffer, port: int, over: asyncio.Event) -> None:
    """The live stream, beside everything else: no run waits for it."""

    def imported() -> Callable[[EventBuffer, int], AbstractAsyncContextManager[int | None]]:
        from skerry_runner.stream.server import serve_stream

        return serve_stream

    serve_stream = await asyncio.to_thread(imported)
    async with serve_stream(buffer, port):
        await over.wait()


def _boot() -> None:
    from skerry_runner.run import boot

    boot()


def main() -> int:
    logs = configure_logs()
    try:
        env = read_environment(os.environ)
    except BadEnvironment as error:
        print(f"skerry_runner runs in a runner Pod: {error}", file=sys.stderr)  # noqa: T201 - for people
        return 2
    try:
        return asyncio.run(_serve(env, logs))
    except Exception:
        # Not to the interpreter, which would print it as it is.
        log.exception("the runner failed")
        return 1


if __name__ == "__main__":
    sys.exit(main())
