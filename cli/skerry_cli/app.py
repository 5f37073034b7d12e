"""The commands and their options. Thin: each imports what it needs when it is called, so that --help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skerry_cli import inside
from skerry_cli.options import Context, Namespace
from skerry_cli.output import ListOutput, Output

__all__ = ["app"]

app = typer.Typer(
    help="Sandboxed agent runs, on Kubernetes and on this machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _skerry() -> None:
    # Keeps `skerry version` a subcommand even while it is one of few.
    pass


@app.command()
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as version_of

    typer.echo(version_of("skerry"))


@app.command()
def run(
    *,
    files: Annotated[
        list[str],
        typer.Option(
            "-f",
            "--filename",
            metavar="FILE",
            help="YAML or JSON with the AgentRun and what it refers to (AgentProfile, ConfigMap, Secret); '-' is stdin. Repeatable.",
        ),
    ],
    script: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Script for the model `scripted`, instead of the run's."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--file",
            metavar="NAME=PATH",
            help="A file for the agent, as NAME in /mnt/user-data/uploads. Repeatable.",
        ),
    ] = None,
    thread: Annotated[
        str | None, typer.Option(metavar="THREAD", help="Thread to work in, instead of the run's threadId.")
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where threads keep their files [default: XDG data directory]."),
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the journal goes [default: the thread's folder]."),
    ] = None,
    output: Annotated[
        Output, typer.Option("-o", "--output", help="What stdout gets: the answer, or the whole AgentRun.")
    ] = Output.TEXT,
    answer: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Answers the question with which the thread's last run stopped, and goes on with it.",
        ),
    ] = None,
) -> None:
    """Execute an AgentRun on this machine.

    Files stay in a directory of the thread; bash is off unless the profile has sandbox.allowLocalBash. Exit code
    0: Succeeded; 2: bad input; 3: AwaitingInput, to be answered with --answer; 1: any other end.
    """  # fmt: skip
    from skerry_cli.run import Request, run_locally

    raise typer.Exit(
        run_locally(
            Request(tuple(files), script, tuple(given or ()), thread, data_dir, journal, output, answer)
        )
    )


@app.command()
def watch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the AgentRun.")],
    *,
    namespace: Namespace = None,
    context: Context = None,
    output: Annotated[
        ListOutput, typer.Option("-o", "--output", help="Words for people, or the journal's JSON lines.")
    ] = ListOutput.TEXT,
) -> None:
    """Follow a run in a cluster: its status, and what its agent does.

    Goes through kubectl: port-forward to the runner Pod while it lives, its log afterwards. Exit code 0: Succeeded;
    2: no such run, or no way to it; 1: any other end.
    """
    from skerry_cli.watch import watch as follow

    raise typer.Exit(follow(name, namespace, context, output))


@app.command()
def answer(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the AgentRun.")],
    *,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="What the agent is told.")] = None,
    option: Annotated[
        int | None, typer.Option(metavar="N", help="The question's option of this number, from 1.")
    ] = None,
    question: Annotated[
        str | None, typer.Option(metavar="ID", help="Id of the question [default: the open one].")
    ] = None,
    namespace: Namespace = None,
    context: Context = None,
) -> None:
    """Answer the question of a run that awaits input, in a cluster.

    Without --text and --option the question is shown and the answer read from the terminal. Goes through kubectl, with
    your own rights. Exit code 2: nothing is asked, or it can't be answered.
    """
    from skerry_cli.answer import Given
    from skerry_cli.answer import answer as give

    if text is not None and option is not None:
        raise typer.BadParameter("--text and --option exclude each other")
    raise typer.Exit(give(name, Given(text, option, question), namespace, context))


@app.command()
def audit(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="JSON lines {\"command\": …}; '-' is stdin.")
    ] = "-",
) -> None:
    """Judge bash commands as the agent's gate does, without running them.

    Prints a line {"command", "verdict": "pass|warn|block", "rules"} for each. Exit code 2: a line can't be read.
    """
    from skerry_cli.audit import audit_file

    raise typer.Exit(audit_file(file))


@app.command()
def artifacts(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the AgentRun.")],
    *,
    to: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Fetch copies of all that are kept into DIR.")
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(metavar="IMAGE", help="Image of the Pod that reads the copies [default: the runner's]."),
    ] = None,
    namespace: Namespace = None,
    context: Context = None,
    output: Annotated[
        ListOutput, typer.Option("-o", "--output", help="A list, or JSON for programs.")
    ] = ListOutput.TEXT,
) -> None:
    """List the files that a run in a cluster presented as results, or fetch them.

    Copies are kept on the thread's state volume, if its profile has persistence of type Volume. Fetching makes a
    short-lived Pod that mounts it. Exit code 0: done; 1: some could not be had; 2: no such run, or no way to it.
    """
    from skerry_cli.artifacts import Fetch
    from skerry_cli.artifacts import artifacts as show

    raise typer.Exit(show(name, namespace, context, output, Fetch(to, image) if to else None))


@app.command()
def validate(
    *,
    files: Annotated[
        list[str],
        typer.Option(
            "-f",
            "--filename",
            metavar="FILE",
            help="YAML or JSON with any number of objects; '-' is stdin. Repeatable.",
        ),
    ],
) -> None:
    """Say of manifests what the API server would, offline; scripts are parsed as well.

    A run is held to its profile where both are in the files, and a reference to a ConfigMap that is. Objects of
    other kinds are passed over. Exit code 0: good; 2: bad input.
    """
    from skerry_cli.validate import validate_files

    raise typer.Exit(validate_files(tuple(files)))


@app.command()
def pipeline(
    *,
    file: Annotated[
        str,
        typer.Option(
            "-f", "--filename", metavar="FILE", help="YAML or JSON with the AgentProfile; '-' is stdin."
        ),
    ],
    output: Annotated[
        ListOutput, typer.Option("-o", "--output", help="A table, or JSON for programs.")
    ] = ListOutput.TEXT,
) -> None:
    """Show the middlewares of a profile's runs, in order: which are there, and why.

    A profile's own middlewares are imported; of one that is not installed here the hooks are not known (`?`, in JSON
    null). Exit code 2: bad input.
    """
    from skerry_cli.pipeline import show_pipeline

    raise typer.Exit(show_pipeline(file, as_json=output is ListOutput.JSON))


app.command("exec")(inside.exec_)
app.command()(inside.shell)
app.command()(inside.cp)

memory_app = typer.Typer(
    help="See, forget and bring up to date what is remembered of users.", no_args_is_help=True
)
app.add_typer(memory_app, name="memory")

UserOption = Annotated[str, typer.Option(metavar="USER", help="The user, as runs name it in userId.")]
AgentOption = Annotated[str, typer.Option(metavar="AGENT", help="Whose memory: pipeline.memory.agent.")]
NamespaceOption = Annotated[
    str, typer.Option("-n", "--namespace", metavar="NS", help="Namespace of the runs.")
]
MemoryDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Data directory of `skerry run` [default: the database of SKERRY_POSTGRES_DSN if that is set, else the XDG data directory].",
    ),
]


@memory_app.command("get")
def memory_get(
    *,
    user: UserOption = "default",
    agent: AgentOption = "lead",
    namespace: NamespaceOption = "default",
    data_dir: MemoryDirOption = None,
    output: Annotated[
        ListOutput, typer.Option("-o", "--output", help="Lines, or JSON for programs.")
    ] = ListOutput.TEXT,
) -> None:
    """Print what is remembered of a user, the surest first."""
    from skerry_cli.memory import Place, get

    raise typer.Exit(get(Place(namespace, data_dir), user, agent, as_json=output is ListOutput.JSON))


@memory_app.command("forget")
def memory_forget(
    *,
    user: Annotated[str, typer.Option(metavar="USER", help="The user, as runs name it in userId.")],
    agent: AgentOption = "lead",
    facts: Annotated[
        list[str] | None,
        typer.Option("--fact", metavar="ID", help="This fact alone. Repeatable. Without it: everything."),
    ] = None,
    namespace: NamespaceOption = "default",
    data_dir: MemoryDirOption = None,
) -> None:
    """Forget facts of a user: those that are named, or all of them and what waits to become some."""
    from skerry_cli.memory import Place, forget

    raise typer.Exit(forget(Place(namespace, data_dir), user, agent, facts or ()))


@memory_app.command("flush")
def memory_flush(
    *,
    files: Annotated[
        list[str],
        typer.Option(
            "-f",
            "--filename",
            metavar="FILE",
            help="YAML or JSON with the AgentProfile whose model draws the facts; its key is taken from SKERRY_MODEL_API_KEY.",
        ),
    ],
    due: Annotated[
        bool, typer.Option("--due", help="Only what is due: threads that were quiet for debounceSeconds.")
    ] = False,
    namespace: NamespaceOption = "default",
    data_dir: MemoryDirOption = None,
    output: Annotated[
        ListOutput, typer.Option("-o", "--output", help="Lines, or JSON for programs.")
    ] = ListOutput.TEXT,
) -> None:
    """Draw facts from the conversations of a profile's runs that wait for it.

    Exit code 1: some could not be drawn; 2: bad input.
    """
    from skerry_cli.memory import Place, flush

    raise typer.Exit(
        flush(Place(namespace, data_dir), tuple(files), due=due, as_json=output is ListOutput.JSON)
    )
