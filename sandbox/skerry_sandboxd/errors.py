"""Errors as sandboxd answers them: one exception that knows its HTTP status and its typed reason."""

from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError

from skerry_api.sandboxd_api import ErrorBody, Reason

__all__ = ["ApiError", "from_validation"]

_STATUS: Final[dict[Reason, int]] = {
    Reason.GRANT_MISSING: 401,
    Reason.GRANT_INVALID: 401,
    Reason.GRANT_EXPIRED: 401,
    Reason.PROOF_INVALID: 401,
    Reason.PROOF_REPLAYED: 401,
    Reason.BODY_MISMATCH: 401,
    Reason.SANDBOX_MISMATCH: 403,
    Reason.STALE_EPOCH: 403,
    Reason.ROLE_FORBIDDEN: 403,
    Reason.POD_MISMATCH: 421,
    Reason.INVALID_REQUEST: 400,
    Reason.NOT_FOUND: 404,
    Reason.METHOD_NOT_ALLOWED: 405,
    Reason.KEY_CONFLICT: 409,
    Reason.OFFSET_CONFLICT: 409,
    Reason.ENDED: 409,
    Reason.TOO_LARGE: 413,
    Reason.BUSY: 429,
    Reason.SHUTTING_DOWN: 503,
    Reason.INTERNAL: 500,
    Reason.PATH_FORBIDDEN: 403,
    Reason.READ_ONLY: 403,
    Reason.PERMISSION_DENIED: 403,
    Reason.IS_DIRECTORY: 409,
    Reason.NOT_DIRECTORY: 409,
    Reason.NOT_REGULAR: 409,
    Reason.NOT_EMPTY: 409,
    Reason.NO_SPACE: 507,
}


class ApiError(Exception):
    """Ends a request with the reason's status and an `ErrorBody`."""

    def __init__(self, reason: Reason, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.body: Final = ErrorBody(reason=reason, message=message, field=field)

    @property
    def status(self) -> int:
        return _STATUS[self.body.reason]

    @property
    def headers(self) -> Mapping[str, str]:
        if self.status == 401:
            error = "invalid_dpop_proof" if "PROOF" in self.body.reason.name else "invalid_token"
            return {"WWW-Authenticate": f'DPoP error="{error}", algs="EdDSA"'}
        return {"Retry-After": "1"} if self.status in {429, 503} else {}


def from_validation(error: ValidationError) -> ApiError:
    """The first problem, with the path of its field; how many more there are is said too."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    path = ".".join(str(part) for part in problems[0]["loc"])
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    message = f"{path or 'body'}: {problems[0]['msg']}{more}"
    return ApiError(Reason.INVALID_REQUEST, message, field=path or None)
