"""The command line: what is ours and what is passed on, and how errors come out."""

from __future__ import annotations

import pytest

from skerry_devcluster.cli import main, parser, split_passed_on


@pytest.mark.parametrize(
    ("argv", "own", "passed_on"),
    [
        (["up", "--name", "a"], ["up", "--name", "a"], []),
        ([], [], []),
        (["kubectl", "get", "-n", "x"], ["kubectl"], ["get", "-n", "x"]),
        (["kubectl", "-n", "x", "get"], ["kubectl"], ["-n", "x", "get"]),
        (["kubectl", "--name", "a", "get"], ["kubectl", "--name", "a"], ["get"]),
        (["helm", "--name=a", "--", "list"], ["helm", "--name=a"], ["list"]),
        (["kubectl", "exec", "p", "--", "ls"], ["kubectl"], ["exec", "p", "--", "ls"]),
        (["kubectl", "--", "--name", "a"], ["kubectl"], ["--name", "a"]),
        (["helm", "install", "--name", "a"], ["helm"], ["install", "--name", "a"]),
        (["kubectl", "--help"], ["kubectl"], ["--help"]),
        (["exec", "--help"], ["exec", "--help"], []),
    ],
)
def test_split(argv: list[str], own: list[str], passed_on: list[str]) -> None:
    assert split_passed_on(argv) == (own, passed_on)


def test_defaults() -> None:
    arguments = parser().parse_args(["up"])
    assert (arguments.name, arguments.control_plane_only) == ("dev", False)
    assert parser().parse_args(["build"]).targets == []
    assert parser().parse_args(["build", "node", "pause"]).targets == ["node", "pause"]


@pytest.mark.parametrize(
    "argv", [[], ["fly"], ["build", "moon"], ["status", "-o", "xml"], ["load-image"], ["restart"]]
)
def test_unusable_command_lines(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        parser().parse_args(argv)
    assert raised.value.code == 2
    assert "usage: skerry-dev" in capsys.readouterr().err


def test_a_bad_name_is_one_line_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kubeconfig", "--name", "Not/A/Name"], {}) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("skerry-dev: --name 'Not/A/Name'")
    assert captured.err.count("\n") == 1
