"""Virtual paths, as the agent sees them whatever the sandbox is. Pure."""

from __future__ import annotations

import posixpath

__all__ = ["OUTPUTS", "SKILLS", "UPLOADS", "USER_DATA", "WORKSPACE", "OutsideThreadData", "virtual_path"]

USER_DATA = "/mnt/user-data"
WORKSPACE = f"{USER_DATA}/workspace"
UPLOADS = f"{USER_DATA}/uploads"
OUTPUTS = f"{USER_DATA}/outputs"
SKILLS = "/mnt/skills"
"""What the agent may read and not write."""


class OutsideThreadData(ValueError):
    """A path where a tool does not work."""


def virtual_path(path: str, *, write: bool = False) -> str:
    """The path absolute and normalised; relative ones start in the workspace. Symlinks are the sandbox's business.

    Raises:
        OutsideThreadData: it leads out of /mnt/user-data (to read: and of /mnt/skills), or is no path at all.
    """
    if not path or "\0" in path:
        raise OutsideThreadData("the path is empty or holds a NUL character")
    # normpath keeps two leading slashes, as POSIX allows.
    full = "/" + posixpath.normpath(posixpath.join(WORKSPACE, path)).lstrip("/")
    if _below(full, USER_DATA):
        return full
    if not _below(full, SKILLS):
        raise OutsideThreadData(f"{path} is outside {USER_DATA}, where this tool works")
    if write:
        raise OutsideThreadData(f"{path}: {SKILLS} is read-only")
    return full


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(root + "/")
