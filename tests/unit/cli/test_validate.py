"""`skerry validate`: every fault of every document, with file, line, object and field."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from skerry_runner.local.validate import validate
from skerry_runner.local.yamldoc import parse_documents
from skerry_testing.controlplane import ROOT
from skerry_testing.manifests import CASES, Case

HEAD = "apiVersion: skerry.dev/v1alpha1\n"
RUN = HEAD + "kind: AgentRun\nmetadata: {name: r}\nspec:\n  profileRef: {name: p}\n"
PROFILE = (
    HEAD + "kind: AgentProfile\nmetadata: {name: p}\nspec:\n  model: {name: scripted, script: 'steps: []'}\n"
)
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {k: text}\n"


def said(*texts: str) -> list[str]:
    documents = [d for n, text in enumerate(texts) for d in parse_documents(f"{n}.yaml", text)[0]]
    return [problem.text() for problem in validate(documents).problems]


def skerry(*args: str, stdin: str = "") -> tuple[int, str, str]:
    command = [sys.executable, "-m", "skerry_cli", "validate", *args]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, cwd=ROOT)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_each_manifest_is_judged_as_the_api_server_does(case: Case) -> None:
    documents, _ = parse_documents("m.yaml", json.dumps(case.manifest))
    told = {problem.problem.path for problem in validate(documents).problems}
    assert case.faults <= told
    # What a script may be is no business of the API server.
    assert case.faults or all("script" in path for path in told), told


def test_good_manifests_in_many_files() -> None:
    files = sorted(str(path) for path in (ROOT / "examples").glob("*/*.yaml"))
    assert len(files) >= 4
    code, out, err = skerry(*(part for file in files for part in ("-f", file)))
    assert (code, err) == (0, "")
    assert out == f"{len(files)} good\n"


def test_an_expression_that_would_fail_every_run() -> None:
    rules = "".join(
        f"    - {{tool: bash, argument: command, regex: '{text}'}}\n" for text in ("a+", "(a", "[b")
    )
    told = said(PROFILE + "  guardrail:\n    rules:\n" + rules)
    assert [line.partition(": not a regular expression: ")[0] for line in told] == [
        "0.yaml:9: AgentProfile p: spec.guardrail.rules[1].regex",
        "0.yaml:10: AgentProfile p: spec.guardrail.rules[2].regex",
    ]


def test_every_problem_of_every_document_of_every_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        RUN + "  prompt: hi\n  threadID: t\n---\n" + RUN.replace("{name: r}", "{name: q}")
    )
    (tmp_path / "b.yaml").write_text("kind: AgentRun\n---\n- 5\n---\nkind: Deployment\napiVersion: apps/v1\n")
    (tmp_path / "c.yaml").write_text("a: [")
    code, out, err = skerry(*(p for n in "abcd" for p in ("-f", str(tmp_path / f"{n}.yaml"))))
    assert (code, out) == (2, "")
    assert err.replace(f"{tmp_path}/", "").splitlines() == [
        "c.yaml:1: not YAML: expected the node content, but found '<stream end>'",
        "d.yaml: No such file or directory",
        "a.yaml:7: AgentRun r: spec.threadID: unknown field",
        "a.yaml:12: AgentRun q: spec.prompt: exactly one of prompt and promptFrom is required",
        "b.yaml:1: AgentRun: apiVersion: must be skerry.dev/v1alpha1",
        "b.yaml:3: must be an object with apiVersion, kind, metadata and spec",
    ]


def test_standard_input_and_nothing_to_look_at() -> None:
    assert skerry("-f", "-", stdin=PROFILE) == (0, "1 good\n", "")
    assert skerry("-f", "-", stdin=PROFILE + "---\nkind: Pod\napiVersion: v1\n") == (
        0, "1 good, 1 of other kinds not looked at\n", "",
    )  # fmt: skip
    assert skerry("-f", "-", stdin="") == (2, "", "-: no object of Skerry in it\n")
    [typed] = said(HEAD + "kind: AgentRum\n")
    assert typed.startswith("0.yaml:2: AgentRum: kind: 'AgentRum' is of no use here; known")
    assert typed.endswith("; did you mean AgentRun?")
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {k: AP8=}\n"
    assert said(PROFILE, secret) == []


@pytest.mark.parametrize("kind", ["{a: 1}", "[AgentRun]", "7", "null", "true", "2026-12-01"])
def test_a_kind_that_is_no_text_is_a_problem_like_others(kind: str) -> None:
    assert any(" kind: " in line for line in said(f"{HEAD}kind: {kind}\n"))


@pytest.mark.parametrize(
    ("run", "profile", "words"),
    [
        ("  prompt: hi\n", "", []),
        ("  prompt: hi\n  model: {name: 'openai:x'}\n", "",
         ["0.yaml:7: AgentRun r: spec.model.name: 'openai:x' is not allowed by AgentProfile p; allowed: scripted"]),
        ("  prompt: hi\n  model: {name: 'openai:x'}\n", "  allowedModels: ['openai:x']\n", []),
        ("  prompt: hi\n  sandbox: {classRef: {name: gpu}}\n", "",
         ["0.yaml:7: AgentRun r: spec.sandbox.classRef.name: 'gpu' is not allowed by AgentProfile p; allowed: default"]),
        ("  promptFrom: {configMapKeyRef: {name: elsewhere, key: k}}\n", "", []),
        ("  promptFrom: {configMapKeyRef: {name: c, key: k}}\n", "", []),
        ("  promptFrom: {configMapKeyRef: {name: c, key: x}}\n", "",
         ["0.yaml:6: AgentRun r: spec.promptFrom.configMapKeyRef: ConfigMap c has no key x"]),
        ("  prompt: hi\n  files: [{name: a, configMapKeyRef: {name: c, key: x}}]\n", "",
         ["0.yaml:7: AgentRun r: spec.files[0].configMapKeyRef: ConfigMap c has no key x"]),
        ("  prompt: hi\n", "  skills: [{name: pdf, configMapRef: {name: c}}]\n",
         ["1.yaml:6: AgentProfile p: spec.skills[0].configMapRef: ConfigMap c has no key SKILL.md"]),
        ('  prompt: hi\n  model: {script: "steps:\\n- say: hi\\n  tolCalls: []"}\n', "",
         ["0.yaml:7: AgentRun r: spec.model.script: line 3: steps[0].tolCalls: unknown field"]),
    ],
)  # fmt: skip
def test_a_run_is_held_to_what_stands_beside_it(run: str, profile: str, words: list[str]) -> None:
    assert said(RUN + run, PROFILE + profile, MAP) == words


def test_a_run_alone_is_held_to_itself() -> None:
    files = "  files: [{name: a, configMapKeyRef: {name: c, key: x}}]\n"
    assert said(RUN + "  prompt: hi\n  model: {name: 'openai:x'}\n") == []
    assert said(RUN + "  prompt: hi\n" + files) == []
    assert said(RUN + "  prompt: hi\n" + files, MAP) == [
        "0.yaml:7: AgentRun r: spec.files[0].configMapKeyRef: ConfigMap c has no key x"
    ]


def test_namespaces_keep_things_apart() -> None:
    elsewhere = PROFILE.replace("{name: p}", "{name: p, namespace: b}", 1)
    run = RUN.replace("{name: r}", "{name: r, namespace: a}") + "  prompt: hi\n  model: {name: 'openai:x'}\n"
    assert said(run, elsewhere) == []
    assert said(PROFILE, elsewhere) == []
    assert said(PROFILE, PROFILE) == [
        "1.yaml:3: AgentProfile p: metadata.name: there is another AgentProfile of this name"
    ]


def test_scripts_of_profiles_are_parsed() -> None:
    bad = PROFILE.replace("'steps: []'", '"steps:\\n- say: [5]\\n"')
    (problem,) = said(bad)
    assert problem.startswith("0.yaml:5: AgentProfile p: spec.model.script: line 2: steps[0].say")
    assert "Input should" not in problem
    by_ref = PROFILE.replace("script: 'steps: []'", "scriptRef: {configMapKeyRef: {name: c, key: k}}")
    assert said(by_ref, MAP.replace("text", "'steps: 3'")) == [
        "0.yaml:5: AgentProfile p: spec.model.scriptRef: ConfigMap c, key k: line 1: steps: must be a list"
    ]
    assert said(by_ref) == []


def test_it_needs_no_langchain() -> None:
    code = (
        "import sys; from skerry_cli.validate import validate_files; import json;"
        "validate_files(('examples/hello/run.yaml',));"
        "print(json.dumps([m for m in sys.modules if m.startswith(('langchain', 'langgraph'))]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines() == ["1 good", "[]"]
