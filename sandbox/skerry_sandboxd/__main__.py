"""Start sandboxd: `python -m skerry_sandboxd`. Settings come from the environment, see settings.py."""

import asyncio
import contextlib
import os
import sys
from pathlib import Path

from skerry_sandboxd.hardening import become_subreaper, forbid_core_dumps, set_dumpable
from skerry_sandboxd.settings import Settings, SettingsError, load_settings


def main() -> int:
    forbid_core_dumps()
    try:
        settings = load_settings(os.environ)
    except SettingsError as error:
        sys.stderr.write(f"sandboxd: {error}\n")
        return 2
    set_dumpable(on=False)
    become_subreaper()
    _make_directories(settings)

    from skerry_sandboxd import logs
    from skerry_sandboxd.server import serve

    logs.set_up()
    asyncio.run(serve(settings))
    return 0


def _make_directories(settings: Settings) -> None:
    """The working directory and its two companions; a volume comes empty."""
    cwd = Path(settings.cwd)
    for path in (cwd, cwd.parent / "uploads", cwd.parent / "outputs"):
        with contextlib.suppress(OSError):  # a class may mount things otherwise; a command will say so
            path.mkdir(parents=True, exist_ok=True)


if __name__ == "__main__":
    sys.exit(main())
