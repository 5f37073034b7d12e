"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Context", "Namespace"]

Namespace = Annotated[
    str | None, typer.Option("-n", "--namespace", metavar="NS", help="Namespace [default: kubectl's].")
]
Context = Annotated[
    str | None, typer.Option(metavar="CONTEXT", help="Context of the kubeconfig [default: kubectl's].")
]
