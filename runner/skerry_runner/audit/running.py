"""A text is run: by a shell, by another interpreter, from an argument, from a file."""

from __future__ import annotations

from collections.abc import Sequence

from skerry_runner.audit.finder import Finder
from skerry_runner.audit.paths import resolve
from skerry_runner.audit.programs import judge_program
from skerry_runner.audit.values import UNKNOWN, Taint, Text

__all__ = ["SHELL_NAMES", "run_argument", "run_text", "script"]

SHELL_NAMES = (
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "ash",
    "fish",
    "csh",
    "tcsh",
    "mksh",
    "rbash",
    "pdksh",
    "yash",
    "elvish",
    "nu",
    "osh",
    "xonsh",
)


def run_text(
    judge: Finder, text: Text | None, language: str, positional: Sequence[Text] | None = None
) -> Text | None:
    """Judge that a shell (or, by `language`, another interpreter) runs a text."""
    if text is None:
        return None
    if Taint.DECODED in text.taint:
        judge.find("run-decoded")
    if Taint.NET in text.taint and not text.known:
        judge.find("run-download")
    if language != "shell":
        judge_program(judge, text, language)
        if text.text.strip() == UNKNOWN and not text.taint & {Taint.NET, Taint.DECODED}:
            judge.find("run-variable" if Taint.FILE in text.taint else "run-unseen")
        return None
    if text.text.lstrip().startswith(UNKNOWN) and not text.taint & {Taint.NET, Taint.DECODED}:
        judge.find("run-unseen")
    return judge.code(text.text, None, positional) if text.text.strip() != UNKNOWN else None


def run_argument(judge: Finder, text: Text, stdin: Text | None, positional: Sequence[Text]) -> Text | None:
    """As run_text, for a text in the arguments: what is not known of it has been seen by whoever wrote it."""
    if Taint.DECODED in text.taint:
        judge.find("run-decoded")
    if Taint.NET in text.taint and text.text.lstrip().startswith(UNKNOWN):
        judge.find("run-download")
    elif text.text.strip() == UNKNOWN and not text.taint & {Taint.DECODED, Taint.COMMAND}:
        judge.find("run-variable")
    elif text.taint & {Taint.PROGRAM} and text.text.lstrip().startswith(UNKNOWN):
        judge.find("run-unseen")
    return judge.code(text.text, stdin, positional) if text.text.strip() != UNKNOWN else None


def script(judge: Finder, path: Text, language: str, positional: Sequence[Text] = ()) -> Text | None:
    place = resolve(path.text, judge.cwd)
    text = judge.files.get(place or "")
    if text is None:
        return None
    if Taint.NET in text.taint and not (place or "").startswith("/dev/fd/"):
        judge.find("saved-download")
        return None
    if (
        (place or "").startswith("/dev/fd/")
        and not text.known
        and not text.taint & {Taint.NET, Taint.DECODED}
    ):
        if language != "shell":
            judge_program(judge, text, language)
        return None
    return run_text(judge, text, language, positional)
