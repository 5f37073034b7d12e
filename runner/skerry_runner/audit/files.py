"""Commands that delete, move, write and open files."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skerry_runner.audit.finder import Finder, Handler
from skerry_runner.audit.options import split_options
from skerry_runner.audit.paths import is_device, is_home, is_system, is_tree, resolve
from skerry_runner.audit.values import EMPTY, UNKNOWN, Taint, Text, plain, unknown

__all__ = ["FILES"]


def delete_tree(judge: Finder, target: Text) -> None:
    """Judge that a whole tree goes."""
    place = resolve(target.text, judge.cwd)
    if place is None:
        return
    judge.budget.take(5 if target.glob else 1)
    if is_tree(place, glob=target.glob):
        judge.find("delete-system")


def _delete_file(judge: Finder, target: Text) -> None:
    place = resolve(target.text, judge.cwd)
    if place is not None and (is_system(place, glob=target.glob) or is_device(place)):
        judge.find("write-system")


def _rm(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text:
    options = split_options(args)
    if any(len(flag) > 3 and "no-preserve-root".startswith(flag) for flag in options.flags):
        judge.find("delete-system")
    recursive = options.has("rR", "recursive")
    for operand in options.operands:
        if recursive:
            delete_tree(judge, operand)
        _delete_file(judge, operand)
        place = resolve(operand.text, judge.cwd)
        if not recursive and place is not None and operand.glob and re.fullmatch(r"/[^/]*", place):
            judge.find("delete-system")
    return EMPTY


_FILTERS = frozenset(
    {"-name", "-iname", "-path", "-ipath", "-regex", "-newer", "-mtime", "-mmin", "-user", "-size"}
)


def _find(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text:
    roots: list[Text] = []
    rest = list(args)
    while rest and rest[0].text in {"-H", "-L", "-P"}:
        rest.pop(0)
    while rest and not rest[0].text.startswith(("-", "(", "!", ",")):
        roots.append(rest.pop(0))
    roots = roots or [plain(".")]
    words = [arg.text for arg in rest]
    filtered = any(
        word in _FILTERS and words[at + 1 : at + 2] not in (["*"], ["."], [".*"])
        for at, word in enumerate(words)
    )
    if "-delete" in words:
        _delete_found(judge, roots, filtered=filtered)
    for at, word in enumerate(words):
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            end = next((i for i in range(at + 1, len(words)) if words[i] in {";", "+"}), len(words))
            command = rest[at + 1 : end]
            _found_command(judge, roots, command, filtered=filtered)
        elif word in {"-fprint", "-fprintf", "-fls", "-fprint0"} and at + 1 < len(rest):
            judge.write(rest[at + 1])
    tree = any(is_tree(place) for root in roots if (place := resolve(root.text, judge.cwd)) is not None)
    return Text(f"/{UNKNOWN}" if tree and not filtered else UNKNOWN, taint=frozenset({Taint.FORM}))


def _delete_found(judge: Finder, roots: Sequence[Text], *, filtered: bool) -> None:
    for root in roots:
        place = resolve(root.text, judge.cwd)
        if place is None:
            continue
        if filtered and is_home(place):
            judge.find("wide-delete")
        elif is_tree(place, glob=root.glob):
            judge.find("delete-system")


def _found_command(judge: Finder, roots: Sequence[Text], command: Sequence[Text], *, filtered: bool) -> None:
    if not command:
        return
    name = command[0].text.rsplit("/", 1)[-1]
    if name in {"rm", "shred", "unlink"}:
        _delete_found(judge, roots, filtered=filtered)
        roots = roots[:1]
    for root in roots[:4]:
        place = resolve(root.text, judge.cwd)
        # Of a system's tree any path may be found; of others, only what they hold.
        found = (
            Text(place, glob=root.glob)
            if place is not None and is_tree(place) and not filtered
            else unknown(Taint.FORM)
        )
        if found.known and name not in {
            "chmod",
            "chown",
            "chgrp",
            "mv",
            "sh",
            "bash",
            "sed",
            "truncate",
            "tee",
            "cp",
        }:
            found = unknown(Taint.FORM)
        judge.call(
            [
                Text(a.text.replace("{}", found.text), a.glob, a.taint | found.taint) if "{}" in a.text else a
                for a in command
            ],
            None,
        )


def _mv(judge: Finder, name: str, args: Sequence[Text], stdin: Text | None) -> Text:
    options = split_options(
        args, {"t", "target-directory", "S", "suffix", "m", "mode", "o", "owner", "g", "group"}
    )
    target = options.value("t", "target-directory")
    operands = options.operands
    if name == "install" and options.flags & {"d", "directory"}:
        return EMPTY
    sources = operands if target is not None else operands[:-1]
    destination = target if target is not None else operands[-1] if len(operands) > 1 else None
    if name == "mv":
        for source in sources:
            delete_tree(judge, source)
            _delete_file(judge, source)
    if destination is not None:
        place = judge.write(destination)
        if place is not None:
            for source in sources:
                held = judge.files.get(resolve(source.text, judge.cwd) or "")
                held = stdin if source.text == "/dev/stdin" else held
                if held is not None:
                    judge.keep(place, held)
                    judge.keep(f"{place}/{source.text.rsplit('/', 1)[-1]}", held)
                judge.write(Text(f"{place}/{source.text.rsplit('/', 1)[-1]}")) if len(place) > 1 else None
    return EMPTY


def _ln(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text:
    operands = split_options(args, {"t", "S"}).operands
    if len(operands) > 1:
        judge.write(operands[-1])
    return EMPTY


def _dd(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    for arg in args:
        name, equals, value = arg.text.partition("=")
        if equals and name == "if":
            judge.find("write-device")
        elif equals and name == "of":
            judge.write(Text(value, arg.glob, arg.taint))
    return None


def _writes_operands(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    for operand in split_options(args, {"s", "size", "n", "iterations", "r", "reference"}).operands:
        judge.write(operand)
        _delete_file(judge, operand)
    return EMPTY


def _touch(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    for operand in split_options(args, {"d", "t", "r", "m", "mode"}).operands:
        place = resolve(operand.text, judge.cwd)
        if place is not None and is_system(place):
            judge.find("write-system")
    return EMPTY


MODE_MAX = 32
_MODE_WIDE = re.compile(
    r"0?0?777|[2467]777|(a|ugo|[ugo]*o[ugo]*)?[+=](rwx|rwX|wrx|xwr|rxw|wxr|xrw)|(.*,)?(a|ugo|o|go|uo)\+[rx]*w[rx]*"
)
_MODE_SETUID = re.compile(r"[2467][0-7]{3}|0[2467][0-7]{3}|[ugoa]*[+=][rwx]*s[rwx]*")


def _chmod(judge: Finder, name: str, args: Sequence[Text], _: Text | None) -> Text:
    options = split_options([arg for arg in args if not re.fullmatch(r"-[rwxXst]+", arg.text)], {"reference"})
    operands = options.operands
    if options.value("reference") is None and not any(re.fullmatch(r"-[rwxXst]+", arg.text) for arg in args):
        mode, operands = (operands[0].text[:MODE_MAX] if operands else ""), operands[1:]
    else:
        mode = ""
    for operand in operands:
        place = resolve(operand.text, judge.cwd)
        if place is None:
            continue
        tree = is_tree(place, glob=operand.glob) and (
            options.has("R", "recursive") or place == "/" or bool(_MODE_WIDE.fullmatch(mode))
        )
        if tree or is_system(place, glob=operand.glob):
            judge.find("open-system")
    if name == "chmod" and (_MODE_WIDE.fullmatch(mode) or _MODE_SETUID.fullmatch(mode)):
        judge.find("open-permissions")
    return EMPTY


def _sed(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    options = split_options(args, {"e", "f", "expression", "file", "l"})
    operands = list(options.operands)
    scripts = [value for flag, value in options.values if flag in {"e", "expression"}]
    if not scripts and not options.value("f", "file") and operands:
        scripts = [operands.pop(0)]
    for script in scripts:
        _sed_script(judge, script.text)
    if options.has("i", "in-place") or any(re.fullmatch(r"-[nErsz]*i.*", arg.text) for arg in args):
        for operand in operands:
            judge.write(operand)
    return None


def _sed_script(judge: Finder, script: str) -> None:
    if match := re.search(r"(?:^|[;{}\n]|[\d$/])\s*e\s+(.+)", script):
        judge.code(match.group(1))
    if match := re.search(r"s(\W)(?:\\.|(?!\1).)*\1((?:\\.|(?!\1).)*)\1[gpIiMm\d]*e", script):
        judge.code(match.group(2).replace("\\" + match.group(1), match.group(1)))
        judge.find("run-variable")
    for match in re.finditer(r"(?:^|[;{}\n]|[\d$/gpIi])\s*[wW]\s+(/\S+)", script):
        judge.write(plain(match.group(1)))
    for match in re.finditer(r"(?:^|[;{}\n]|[\d$/])\s*[rR]\s+(/\S+)", script):
        judge.call([plain("cat"), plain(match.group(1))], None)


def _tar(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    options = split_options(
        args,
        {"f", "C", "file", "directory", "to-command", "checkpoint-action", "I", "use-compress-program", "F"},
    )
    for name, value in options.values:
        if name in {"to-command", "I", "use-compress-program", "F", "info-script"}:
            judge.code(value.text)
        elif name == "checkpoint-action" and value.text.startswith("exec="):
            judge.code(value.text[5:])
    if "remove-files" in options.flags:
        for operand in options.operands:
            delete_tree(judge, operand)
    return None


def _rsync(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    options = split_options(
        args, {"e", "rsh", "rsync-path", "f", "filter", "exclude", "include", "exclude-from"}
    )
    for name, value in options.values:
        if name in {"e", "rsh", "rsync-path"}:
            judge.code(value.text)
    if options.operands:
        target = options.operands[-1]
        if any(flag.startswith("del") for flag in options.flags):
            delete_tree(judge, Text(target.text.rstrip("/") or "/", target.glob))
        if ":" not in target.text:
            judge.write(target)
    if "remove-source-files" in options.flags:
        for operand in options.operands[:-1]:
            delete_tree(judge, operand)
    return None


FILES: dict[str, Handler] = {
    "rm": _rm, "find": _find, "gfind": _find, "grm": _rm, "trash": _rm, "rimraf": lambda j, n, a, s: _rm(j, n, [plain("-r"), *a], s),
    "mv": _mv, "cp": _mv, "gcp": _mv, "install": _mv, "ln": _ln, "dd": _dd, "truncate": _writes_operands, "unlink": _writes_operands,
    "shred": _writes_operands, "srm": _rm, "sponge": _writes_operands, "rmdir": _rm, "touch": _touch, "mkdir": _touch, "mknod": _touch,
    "chmod": _chmod, "chown": _chmod, "chgrp": _chmod, "chattr": _chmod, "setfacl": _chmod, "sed": _sed, "gsed": _sed, "tar": _tar, "bsdtar": _tar,
    "rsync": _rsync,
}  # fmt: skip
