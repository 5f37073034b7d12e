"""From sandboxd's typed reasons to our errors. Pure."""

from typing import Final

from pydantic import ValidationError

from skerry_api.sandboxd_api import ErrorBody, Reason
from skerry_runner.sandbox import errors
from skerry_runner.sandbox.errors import PathError, SandboxError

__all__ = ["parse_refusal", "to_error"]

_PATH_ERRORS: Final[dict[Reason, type[PathError]]] = {
    Reason.NOT_FOUND: errors.PathNotFound,
    Reason.PATH_FORBIDDEN: errors.PathForbidden,
    Reason.READ_ONLY: errors.ReadOnlyPath,
    Reason.PERMISSION_DENIED: errors.PathPermission,
    Reason.IS_DIRECTORY: errors.IsADirectory,
    Reason.NOT_DIRECTORY: errors.NotADirectory,
    Reason.NOT_REGULAR: errors.NotARegularFile,
    Reason.NOT_EMPTY: errors.DirectoryNotEmpty,
    Reason.TOO_LARGE: errors.FileTooLarge,
    Reason.NO_SPACE: errors.NoSpace,
}


def parse_refusal(body: bytes) -> ErrorBody | None:
    """The typed body of an error answer, or None if it is none."""
    try:
        return ErrorBody.model_validate_json(body)
    except ValidationError:
        return None


def to_error(body: ErrorBody, path: str | None) -> SandboxError:
    """The error of a refusal; `path` is the file the call was about, if it was about one."""
    message = body.message[:2000]
    error: SandboxError
    match body.reason:
        case Reason.STALE_EPOCH:
            error = errors.SandboxFenced(body.reason, message)
        case Reason.KEY_CONFLICT:
            error = errors.CommandConflict(message)
        case Reason.INTERNAL:
            error = errors.SandboxProtocolError(message)
        case reason if path is not None and reason in _PATH_ERRORS:
            error = _PATH_ERRORS[reason](path, message)
        case Reason.INVALID_REQUEST | Reason.METHOD_NOT_ALLOWED | Reason.TOO_LARGE:
            error = errors.InvalidCall(message, body.field)
        case _:
            error = errors.SandboxRefused(body.reason, message)
    return error
