"""Virtual paths, as the agent sees them whatever the sandbox is. Pure."""

from __future__ import annotations

import posixpath

__all__ = ["OUTPUTS", "UPLOADS", "USER_DATA", "WORKSPACE", "OutsideThreadData", "virtual_path"]

USER_DATA = "/mnt/user-data"
WORKSPACE = f"{USER_DATA}/workspace"
UPLOADS = f"{USER_DATA}/uploads"
OUTPUTS = f"{USER_DATA}/outputs"


class OutsideThreadData(ValueError):
    """A path that is not below /mnt/user-data."""


def virtual_path(path: str) -> str:
    """The path absolute and normalised; relative ones start in the workspace. Symlinks are the sandbox's business.

    Raises:
        OutsideThreadData: it leads out of /mnt/user-data, or is no path at all.
    """
    if not path or "\0" in path:
        raise OutsideThreadData("the path is empty or holds a NUL character")
    # normpath keeps two leading slashes, as POSIX allows.
    full = "/" + posixpath.normpath(posixpath.join(WORKSPACE, path)).lstrip("/")
    if full != USER_DATA and not full.startswith(USER_DATA + "/"):
        raise OutsideThreadData(f"{path} is outside {USER_DATA}, where this tool works")
    return full
