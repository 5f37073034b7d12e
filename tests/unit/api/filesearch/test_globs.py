"""Globs: what they match and what they refuse."""

from __future__ import annotations

import pytest

from skerry_api.filesearch.globs import BadGlob, glob_regex, still_ignored


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("*.py", ["a.py", "x/y/a.py", ".py"], ["a.pyc", "a.py/b"]),
        ("./*.py", ["a.py"], ["x/a.py"]),
        ("/*.py", ["a.py"], ["x/a.py"]),
        ("x/*.py", ["x/a.py"], ["a.py", "y/x/a.py", "x/y/a.py"]),
        ("**/*.py", ["a.py", "x/y/a.py"], ["a.txt"]),
        ("x/**/a", ["x/a", "x/1/a", "x/1/2/a"], ["a", "xa", "x/ba"]),
        ("x/**", ["x/a", "x/a/b"], ["x", "y/a"]),
        ("**/**/a", ["a", "x/a"], ["ab"]),
        ("**", ["a", "a/b"], []),
        ("a?c", ["abc"], ["ac", "a/c", "abbc"]),
        ("[a-c]x", ["ax", "cx"], ["dx"]),
        ("[!a-c]x", ["dx"], ["ax"]),
        ("[^a]x", ["bx"], ["ax"]),
        ("p[/]q", [], ["p/q"]),
        ("[]]x", ["]x"], ["x"]),
        ("[!]]x", ["ax"], ["]x"]),
        ("[ab", ["[ab"], ["a"]),
        ("[a&&b]", ["a", "&"], ["c"]),
        ("[\\w]", ["\\", "w"], ["a"]),
        ("*.{ts,tsx}", ["a.ts", "x/a.tsx"], ["a.t", "a.{ts,tsx}"]),
        ("{a,b{1,2}}.c", ["a.c", "b1.c", "b2.c"], ["b.c"]),
        ("{src,test}/**/x", ["src/x", "test/1/x"], ["lib/x"]),
        ("{a}", ["{a}"], ["a"]),
        ("a.b+(c)", ["a.b+(c)"], ["aXb+(c)", "a.bb(c)"]),
        ("***", ["abc"], []),
        ("a\nb*", ["a\nbc"], ["a"]),
        ("dir/", ["dir", "x/dir"], ["dir/x"]),
        ("/", [], ["", "a"]),
    ],
)
def test_what_a_glob_matches(glob: str, yes: list[str], no: list[str]) -> None:
    regex = glob_regex(glob)
    assert [path for path in yes if not regex.match(path)] == []
    assert [path for path in no if regex.match(path)] == []


@pytest.mark.parametrize("glob", ["..", "../a", "a/../b", "{a,b}" * 20, "[z-a]", "{..,a}/b"])
def test_what_is_refused(glob: str) -> None:
    with pytest.raises(BadGlob):
        glob_regex(glob)


@pytest.mark.parametrize(
    ("glob", "kept"),
    [
        (None, ("dist", "*.log", "node_modules")),
        ("*.py", ("dist", "*.log", "node_modules")),
        ("*.log", ("dist", "node_modules")),
        ("run.log", ("dist", "node_modules")),
        ("**/dist/*.js", ("*.log", "node_modules")),
        ("*", ("dist", "*.log", "node_modules")),
    ],
)
def test_what_a_glob_names_is_not_ignored(glob: str | None, kept: tuple[str, ...]) -> None:
    assert still_ignored(("dist", "*.log", "node_modules"), glob) == kept
