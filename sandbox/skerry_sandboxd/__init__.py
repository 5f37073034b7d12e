"""sandboxd: the small server inside a sandbox Pod that runs commands and serves files for the runner."""

from typing import Final

__all__ = ["__version__"]

__version__: Final = "0.1.0"
