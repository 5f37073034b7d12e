"""Routes of executions and of long-running processes."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from skerry_api.sandboxd_api import ExecutionRequest, ProcessRequest, SignalRequest, StdinResult
from skerry_sandboxd.executions import Executions
from skerry_sandboxd.processes import Processes
from skerry_sandboxd.query import flag, number, parse
from skerry_sandboxd.replies import event_stream, model_response
from skerry_sandboxd.settings import Limits

__all__ = ["execution_routes", "process_routes"]

_NO_LIMIT = 2**53
_STDIN_PATIENCE = 10.0


def execution_routes(executions: Executions, limits: Limits) -> list[Route]:
    async def start(request: Request) -> Response:
        after = number(request, "after", default=0, most=_NO_LIMIT)
        body = parse(ExecutionRequest, await request.body())
        return event_stream(await executions.events(body, after))

    async def attach(request: Request) -> Response:
        after = number(request, "after", default=0, most=_NO_LIMIT)
        return event_stream(executions.attach(request.path_params["key"], after))

    async def kill(request: Request) -> Response:
        grace = number(request, "graceSeconds", default=int(limits.kill_grace_seconds), most=30)
        end = await executions.kill(request.path_params["key"], grace)
        return Response(status_code=204) if end is None else model_response(end)

    return [
        Route("/v1/executions", start, methods=["POST"]),
        Route("/v1/executions/{key}", attach, methods=["GET"]),
        Route("/v1/executions/{key}", kill, methods=["DELETE"]),
    ]


def process_routes(processes: Processes, limits: Limits) -> list[Route]:
    async def start(request: Request) -> Response:
        return model_response(await processes.start(parse(ProcessRequest, await request.body())), 201)

    async def state(request: Request) -> Response:
        return model_response(processes.get(request.path_params["key"]).state)

    async def output(request: Request) -> Response:
        after = number(request, "after", default=0, most=_NO_LIMIT)
        return event_stream(processes.get(request.path_params["key"]).events(after))

    async def stdin(request: Request) -> Response:
        offset = number(request, "offset", default=-1, most=_NO_LIMIT)
        process = processes.get(request.path_params["key"])
        accepted = await process.write(
            await request.body(),
            None if offset < 0 else offset,
            eof=flag(request, "eof"),
            patience=_STDIN_PATIENCE,
        )
        return model_response(StdinResult(offset=accepted))

    async def signal(request: Request) -> Response:
        body = parse(SignalRequest, await request.body())
        return model_response(await processes.signal(request.path_params["key"], body))

    async def kill(request: Request) -> Response:
        grace = number(request, "graceSeconds", default=int(limits.kill_grace_seconds), most=30)
        process = processes.get(request.path_params["key"])
        await process.kill(grace)
        return model_response(process.state)

    return [
        Route("/v1/processes", start, methods=["POST"]),
        Route("/v1/processes/{key}", state, methods=["GET"]),
        Route("/v1/processes/{key}", kill, methods=["DELETE"]),
        Route("/v1/processes/{key}/output", output, methods=["GET"]),
        Route("/v1/processes/{key}/stdin", stdin, methods=["POST"]),
        Route("/v1/processes/{key}/signal", signal, methods=["POST"]),
    ]
