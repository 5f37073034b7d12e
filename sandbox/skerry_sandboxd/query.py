"""Parameters and JSON bodies of requests, with errors that name the field."""

import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from skerry_api.sandboxd_api import Reason
from skerry_sandboxd.errors import ApiError, from_validation

__all__ = ["file_mode", "flag", "number", "parse", "text"]

Model = TypeVar("Model", bound=BaseModel)


def parse(model: type[Model], body: bytes) -> Model:
    """A JSON body as `model`. Raises ApiError with the field's path."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise from_validation(error) from error


def text(request: Request, name: str) -> str:
    """A parameter that must be there, once. Raises ApiError."""
    values = request.query_params.getlist(name)
    if len(values) != 1 or not values[0]:
        raise ApiError(Reason.INVALID_REQUEST, f"{name}: is needed once in the query", field=name)
    return values[0]


def number(request: Request, name: str, *, default: int, most: int) -> int:
    """A whole number from 0 to `most`, or `default` when it is absent. Raises ApiError."""
    value = request.query_params.get(name)
    if value is None:
        return default
    if not re.fullmatch(r"[0-9]{1,16}", value) or int(value) > most:
        raise ApiError(
            Reason.INVALID_REQUEST, f"{name}: a whole number from 0 to {most} is needed", field=name
        )
    return int(value)


def file_mode(request: Request) -> int | None:
    """Permission bits in octal, such as 0644. Raises ApiError."""
    value = request.query_params.get("mode")
    if value is None:
        return None
    if not re.fullmatch(r"0?[0-7]{3}", value):
        raise ApiError(Reason.INVALID_REQUEST, "mode: three octal digits are needed", field="mode")
    return int(value, 8)


def flag(request: Request, name: str) -> bool:
    """True or false, false when absent. Raises ApiError."""
    value = request.query_params.get(name, "false")
    if value not in {"true", "false"}:
        raise ApiError(Reason.INVALID_REQUEST, f"{name}: true or false is needed", field=name)
    return value == "true"
