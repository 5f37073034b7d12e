"""Answers: models as JSON, errors as typed JSON, events as NDJSON."""

from collections.abc import AsyncIterator

from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse

from skerry_api.sandboxd_events import CONTENT_NDJSON, Event
from skerry_sandboxd.errors import ApiError

__all__ = ["error_response", "event_stream", "model_response"]


def model_response(model: BaseModel, status: int = 200) -> Response:
    content = model.model_dump_json(by_alias=True, exclude_none=True)
    return Response(content, status, media_type="application/json")


def error_response(error: ApiError) -> Response:
    response = model_response(error.body, error.status)
    response.headers.update(error.headers)
    return response


def event_stream(events: AsyncIterator[Event]) -> StreamingResponse:
    async def lines() -> AsyncIterator[bytes]:
        async for event in events:
            yield event.model_dump_json(by_alias=True, exclude_none=True).encode("utf-8") + b"\n"

    return StreamingResponse(lines(), media_type=CONTENT_NDJSON)
