"""The commands that go into a sandbox: exec, shell and cp."""

from __future__ import annotations

from typing import Annotated

import typer

from skerry_cli.options import Context, Namespace

__all__ = ["cp", "exec_", "shell"]

_Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="An AgentRun, whose sandbox is meant, or sbx/NAME for a Sandbox."),
]


def exec_(
    name: _Name,
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND...", help="The command and its arguments.")
    ],
    *,
    stdin: Annotated[
        bool, typer.Option("-i", "--stdin", help="Give it this command's standard input.")
    ] = False,
    namespace: Namespace = None,
    context: Context = None,
) -> None:
    """Run a command in a sandbox, in the agent's workspace.

    Goes through kubectl, by your own right to pods/exec. It is killed when this command is. Exit code: the command's
    own; 2 also where it can't be run at all.
    """
    from skerry_cli.execute import execute

    raise typer.Exit(execute(name, command, namespace, context, stdin=stdin))


def shell(name: _Name, *, namespace: Namespace = None, context: Context = None) -> None:
    """Open a terminal in a sandbox, in the agent's workspace.

    Goes through kubectl, by your own right to pods/exec. The sandbox counts as used for as long as it is open.
    """
    from skerry_cli.shell import shell as enter

    raise typer.Exit(enter(name, namespace, context))


def cp(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A path here, or NAME:PATH in a sandbox.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="A path here, or NAME:PATH in a sandbox.")],
    *,
    namespace: Namespace = None,
    context: Context = None,
) -> None:
    """Copy a file or a directory into a sandbox, or out of it.

    NAME is an AgentRun, or sbx/NAME; a relative PATH is below /mnt/user-data/workspace. Into a directory that exists it is
    copied under its own name. Symlinks are passed over. Exit code 1: some could not be copied; 2: none.
    """
    from skerry_cli.copy import copy

    raise typer.Exit(copy(source, target, namespace, context))
