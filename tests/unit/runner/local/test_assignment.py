"""Files and options become a document, or every problem with its place."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from skerry_runner.local.assignment import Assignment, Options, assign
from skerry_runner.local.yamldoc import FileProblem, parse_documents

NO_OPTIONS = Options()
NOW = datetime(2026, 1, 2, tzinfo=UTC)
RUN = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentRun
metadata: {name: r}
spec:
  profileRef: {name: p}
  prompt: hi
"""
PROFILE = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentProfile
metadata: {name: p}
spec:
  model: {name: scripted, script: "steps: []"}
"""
KEYED = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentProfile
metadata: {name: p}
spec:
  model: {name: "openai:x", apiKeySecretRef: {name: s, key: k}}
"""


def made(
    *texts: str,
    options: Options = NO_OPTIONS,
    env: dict[str, str] | None = None,
) -> Assignment | list[FileProblem]:
    documents = []
    for number, text in enumerate(texts):
        found, problems = parse_documents(f"f{number}.yaml", text)
        assert problems == []
        documents += found
    return assign(documents, options, env or {}, uid="uid-1", now=NOW)


def good(*texts: str, options: Options = NO_OPTIONS, env: dict[str, str] | None = None) -> Assignment:
    assignment = made(*texts, options=options, env=env)
    assert isinstance(assignment, Assignment), [problem.text() for problem in assignment]
    return assignment


def bad(*texts: str, options: Options = NO_OPTIONS, env: dict[str, str] | None = None) -> list[str]:
    assignment = made(*texts, options=options, env=env)
    assert isinstance(assignment, list)
    return [problem.text() for problem in assignment]


def test_a_run_and_its_profile_become_a_document() -> None:
    assignment = good(RUN, PROFILE)
    meta = assignment.run.metadata
    assert (meta.name, meta.namespace, meta.uid, meta.creation_timestamp) == ("r", "default", "uid-1", NOW)
    document = assignment.document
    assert (document.run.uid, document.run.epoch, document.thread_id) == ("uid-1", 1, "uid-1")
    assert (document.model.script, document.prompt) == ("steps: []", "hi")


def test_order_and_files_do_not_matter() -> None:
    assert good(f"{PROFILE}---\n{RUN}").document == good(RUN, PROFILE).document


def test_the_profile_scripted_is_built_in() -> None:
    run = RUN.replace("{name: p}", "{name: scripted}") + "  model: {script: 'steps: []'}\n"
    assert good(run).document.profile == "scripted"
    assert bad(RUN) == [
        "f0.yaml:5: AgentRun r: spec.profileRef.name: there is no AgentProfile 'p' of namespace default in the files"
    ]


def test_options_win_over_the_files() -> None:
    assignment = good(RUN, PROFILE, options=Options(script=("s.yaml", "steps: [] #"), thread="t"))
    assert (assignment.document.thread_id, assignment.run.spec.thread_id) == ("t", "t")
    assert (assignment.document.model.script, assignment.document.model.script_source) == (
        "steps: [] #",
        "s.yaml",
    )


def test_a_generated_name_is_made() -> None:
    assert good(RUN.replace("{name: r}", "{generateName: r-}"), PROFILE).run.metadata.name == "r-uid-1"


def test_nulls_are_absence_and_a_status_is_not_taken() -> None:
    text = RUN + "  retries: null\n  threadId: ~\nstatus: {phase: Succeeded}\n"
    assignment = good(text, PROFILE)
    assert (assignment.run.spec.retries, assignment.run.status.phase) == (2, None)


def test_texts_come_from_config_maps_of_the_files() -> None:
    run = RUN.replace("prompt: hi", "promptFrom: {configMapKeyRef: {name: c, key: ask}}")
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {ask: please}\n"
    assert good(run, PROFILE, config).document.prompt == "please"
    elsewhere = config.replace("{name: c}", "{name: c, namespace: other}")
    assert bad(run, PROFILE, elsewhere) == [
        "f0.yaml:6: AgentRun r: spec.promptFrom.configMapKeyRef: there is no ConfigMap c with key ask"
    ]


@pytest.mark.parametrize("form", ["data", "stringData"])
def test_keys_come_from_secrets_of_the_files(form: str) -> None:
    value = base64.b64encode(b"sk-1").decode() if form == "data" else "sk-1"
    secret = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n{form}: {{k: {value}}}\n"
    assert good(RUN, KEYED, secret, env={"SKERRY_MODEL_API_KEY": "other"}).api_key == "sk-1"


def test_a_key_may_come_from_the_environment_and_must_come_from_somewhere() -> None:
    assert good(RUN, KEYED, env={"SKERRY_MODEL_API_KEY": "sk-2"}).api_key == "sk-2"
    assert bad(RUN, KEYED) == [
        "f1.yaml:5: AgentProfile p: spec.model.apiKeySecretRef: no Secret s with key k in the files, and SKERRY_MODEL_API_KEY is not set"
    ]


def test_a_problem_of_the_profile_stands_in_its_file() -> None:
    profile = PROFILE.replace(', script: "steps: []"', ", scriptRef: {configMapKeyRef: {name: c, key: k}}")
    assert bad(RUN, profile) == [
        "f1.yaml:5: AgentProfile p: spec.model.scriptRef.configMapKeyRef: there is no ConfigMap c with key k"
    ]


def test_every_problem_of_every_file_comes_at_once() -> None:
    run = RUN.replace("prompt: hi", "promt: hi\n  retries: 9")
    profile = PROFILE.replace("scripted,", "scripted, sight: 1,")
    other = "kind: Pod\napiVersion: v1\nmetadata: {name: x}\n"
    found = bad(run, profile, other)
    assert [text.split(": ")[0] for text in found] == ["f0.yaml:6", "f0.yaml:7", "f1.yaml:5", "f2.yaml:1"]
    assert "spec.promt: unknown field" in found[0]
    assert "AgentProfile p: spec.model.sight: unknown field" in found[2]
    assert "'Pod' is of no use here" in found[3]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ((PROFILE,), "no AgentRun in the files"),
        ((RUN, RUN, PROFILE), "f1.yaml:2: AgentRun r: kind: only one AgentRun can be run at a time"),
        ((RUN, PROFILE, PROFILE), "f2.yaml:3: AgentProfile p: metadata.name: there is another AgentProfile"),
        ((RUN, PROFILE, "just text\n"), "f2.yaml:1: must be an object"),
        ((RUN, PROFILE, "kind: Secret\napiVersion: v1\nmetadata: {name: s}\ndata: {k: '?'}\n"), "f2.yaml:4: Secret s: data.k: must be base64"),
        ((RUN, PROFILE, "kind: ConfigMap\napiVersion: v1\nmetadata: {name: s}\ndata: {k: 1}\n"), "data.k: must be a string"),
        ((RUN, PROFILE, "kind: ConfigMap\napiVersion: v2\ndata: []\n"), "apiVersion: must be v1"),
        ((RUN, PROFILE.replace("steps: []", "steps: [{sai: x}]")), "f1.yaml:5: AgentProfile p: spec.model.script: line 1: steps[0]"),
        ((RUN + "  model: {name: gpt}\n", PROFILE), "f0.yaml:7: AgentRun r: spec.model.name: 'gpt' is not allowed by AgentProfile p"),
    ],
)  # fmt: skip
def test_bad_input_names_file_line_field_and_problem(texts: tuple[str, ...], words: str) -> None:
    assert any(words in text for text in bad(*texts)), bad(*texts)


def test_a_bad_script_of_a_file_of_its_own_stands_there() -> None:
    (text,) = bad(RUN, PROFILE, options=Options(script=("s.yaml", "steps:\n- say: a\n- saai: b\n")))
    assert text.startswith("s.yaml: line 3: steps[1]")


def test_options_do_not_mend_a_broken_manifest() -> None:
    assert "f0.yaml:5: AgentRun r: spec.model: " in bad(
        RUN.replace("  prompt", "  model: [x]\n  prompt").replace("  profileRef: {name: p}\n", "")
        + "  profileRef: {name: p}\n",
        PROFILE,
        options=Options(script=("s.yaml", "steps: []")),
    )[0]  # fmt: skip


def test_a_thread_that_is_none_is_refused() -> None:
    (text,) = bad(RUN, PROFILE, options=Options(thread="two words"))
    assert "spec.threadId" in text
