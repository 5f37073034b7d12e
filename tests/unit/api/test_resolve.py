"""Who may choose what: run and profile in, document or field paths out."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.agentprofile import AgentProfile, ToolName
from skerry_api.agentrun import AgentRun, AgentRunStatus
from skerry_api.document import DOCUMENT_MAX, RunDocument
from skerry_api.names import sandbox_id
from skerry_api.phases import Acquire
from skerry_api.pipeline import PipelineSettings
from skerry_api.problems import Problem
from skerry_api.resolve import document_json, resolve, sketch, texts_needed, thread_of
from skerry_testing.fullpipeline import PIPELINE

SCRIPT = "steps: []"


def run(**spec: Any) -> AgentRun:
    return AgentRun.read(
        {
            "apiVersion": "skerry.dev/v1alpha1",
            "kind": "AgentRun",
            "metadata": {"name": "r", "namespace": "ns", "uid": "u-1", "generation": 3},
            "spec": {"profileRef": {"name": "p"}} | ({} if "promptFrom" in spec else {"prompt": "hi"}) | spec,
        }
    )


def profile(model: dict[str, Any] | None = None, **spec: Any) -> AgentProfile:
    return AgentProfile.read(
        {
            "apiVersion": "skerry.dev/v1alpha1",
            "kind": "AgentProfile",
            "metadata": {"name": "p", "namespace": "ns"},
            "spec": {"model": model or {"name": "scripted", "script": SCRIPT}, **spec},
        }
    )


def document(
    run_: AgentRun, profile_: AgentProfile, texts: dict[tuple[str, str], str] | None = None
) -> RunDocument:
    made = resolve(run_, profile_, texts or {}, epoch=2)
    assert isinstance(made, RunDocument), made
    return made


def problems(
    run_: AgentRun, profile_: AgentProfile, texts: dict[tuple[str, str], str] | None = None
) -> tuple[Problem, ...]:
    made = resolve(run_, profile_, texts or {}, epoch=1)
    assert isinstance(made, tuple), made
    return made


def test_the_plain_run_takes_all_from_its_profile() -> None:
    made = document(run(), profile(systemPrompt="Be brief."))
    assert (made.run.uid, made.run.epoch, made.run.generation) == ("u-1", 2, 3)
    assert (made.thread_id, made.user_id, made.profile) == ("u-1", "default", "p")
    assert (made.prompt, made.system_prompt, made.max_turns) == ("hi", "Be brief.", 100)
    assert (made.model.script, made.model.script_source) == (SCRIPT, "AgentProfile p: spec.model.script")
    assert made.sandbox.sandbox_id == sandbox_id("ns", "default", "u-1")
    assert (made.sandbox.class_name, made.sandbox.acquire) == ("default", Acquire.LAZY)
    assert made.tools == tuple(tool for tool in ToolName if tool is not ToolName.VIEW_IMAGE)
    assert made.pipeline == PipelineSettings()


def test_what_the_run_may_choose_wins_over_the_profile() -> None:
    chosen = run(
        threadId="t", userId="ann", limits={"maxTurns": 7},
        model={"name": "openai:b", "parameters": {"temperature": "0.9"}},
        sandbox={"classRef": {"name": "big"}, "acquire": "Eager"},
    )  # fmt: skip
    rules = profile(
        {"name": "openai:a", "baseUrl": "http://m", "parameters": {"temperature": "0", "seed": "1"}},
        allowedModels=["openai:b"], allowedClasses=["big"], tools={"enabled": ["write_file", "bash"]},
    )  # fmt: skip
    made = document(chosen, rules)
    assert (made.model.name, made.model.base_url) == ("openai:b", "http://m")
    assert made.model.parameters == {"temperature": "0.9", "seed": "1"}
    assert (made.sandbox.class_name, made.sandbox.acquire) == ("big", Acquire.EAGER)
    assert (made.thread_id, made.max_turns) == ("t", 7)
    assert made.tools == (ToolName.BASH, ToolName.WRITE_FILE)
    assert made.model.script is None


def test_the_pipeline_is_the_profile_s_and_survives_the_document_s_json() -> None:
    made = document(run(), profile(pipeline=PIPELINE, allowedModels=["openai:y"]))
    assert made.pipeline.wire() == PIPELINE
    assert RunDocument.model_validate_json(document_json(made)) == made


@pytest.mark.parametrize(
    ("vision", "enabled", "given"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_only_a_model_that_sees_images_gets_the_tool_for_them(
    vision: bool, enabled: bool, given: bool
) -> None:
    model = {"name": "scripted", "script": SCRIPT, "vision": vision}
    made = document(run(), profile(model, pipeline={"viewImage": {"enabled": enabled}}))
    assert (ToolName.VIEW_IMAGE in made.tools) is given
    assert made.model.vision is vision


@pytest.mark.parametrize(
    ("deferred", "acquire"), [(False, Acquire.EAGER), (True, Acquire.LAZY)], ids=["bound", "deferred"]
)
def test_a_process_that_has_tools_from_the_start_needs_its_sandbox_at_once(
    deferred: bool, acquire: Acquire
) -> None:
    server = {"name": "wiki", "transport": "Stdio", "command": "wiki", "deferred": deferred}
    made = document(run(sandbox={"acquire": "Lazy"}), profile(mcpServers=[server]))
    assert made.sandbox.acquire is acquire
    assert [(each.name, each.command) for each in made.mcp_servers] == [("wiki", "wiki")]


def test_a_sketch_needs_no_run_and_no_script() -> None:
    rules = profile({"name": "scripted"}, pipeline={"todoList": {"enabled": True}}, tools={"enabled": ["ls"]})
    made = sketch(rules)
    assert (made.profile, made.tools, made.pipeline) == ("p", (ToolName.LS,), rules.spec.pipeline)


def test_no_tools_enabled_is_none_and_not_all() -> None:
    assert document(run(), profile(tools={"enabled": []})).tools == ()


def test_texts_come_from_config_maps_and_say_so() -> None:
    asked = run(promptFrom={"configMapKeyRef": {"name": "c", "key": "ask"}})
    rules = profile({"name": "scripted", "scriptRef": {"configMapKeyRef": {"name": "c", "key": "play.yaml"}}})
    needs = texts_needed(asked, rules)
    assert [need.at for need in needs] == [("c", "ask"), ("c", "play.yaml")]
    made = document(asked, rules, {("c", "ask"): "do it", ("c", "play.yaml"): SCRIPT})
    assert (made.prompt, made.model.script) == ("do it", SCRIPT)
    assert made.model.script_source == "AgentProfile p: spec.model.scriptRef (ConfigMap c, key play.yaml)"
    assert [problem.path for problem in problems(asked, rules)] == [need.path for need in needs]


def test_a_run_with_its_own_script_needs_no_script_of_the_profile() -> None:
    rules = profile({"name": "scripted", "scriptRef": {"configMapKeyRef": {"name": "c", "key": "k"}}})
    own = run(model={"script": "steps: [] # mine"})
    assert texts_needed(own, rules) == ()
    made = document(own, rules)
    assert (made.model.script, made.model.script_source) == ("steps: [] # mine", "spec.model.script")


@pytest.mark.parametrize(
    ("spec", "model", "path", "words"),
    [
        ({"model": {"name": "openai:x"}}, None, "spec.model.name", "allowed: scripted"),
        ({"sandbox": {"classRef": {"name": "gpu"}}}, None, "spec.sandbox.classRef.name", "allowed: default"),
        ({}, {"name": "scripted"}, "spec.model.script", "needs a script"),
        ({"model": {"script": SCRIPT}}, {"name": "openai:x"}, "spec.model.script", "only the model"),
        ({"prompt": " \n"}, None, "spec.prompt", "empty"),
        ({"prompt": None}, None, "spec.prompt", "exactly one"),
    ],
)  # fmt: skip
def test_bad_choices_name_their_field(
    spec: dict[str, Any], model: dict[str, Any] | None, path: str, words: str
) -> None:
    found = problems(run(**spec), profile(model))
    assert [problem.path for problem in found] == [path]
    assert words in found[0].message


def test_all_problems_come_at_once() -> None:
    bad = run(prompt=" ", model={"name": "x"}, sandbox={"classRef": {"name": "gpu"}})
    assert [problem.path for problem in problems(bad, profile())] == [
        "spec.model.name",
        "spec.sandbox.classRef.name",
        "spec.prompt",
    ]


def test_an_empty_text_is_no_prompt() -> None:
    asked = run(promptFrom={"configMapKeyRef": {"name": "c", "key": "ask"}})
    found = problems(asked, profile(), {("c", "ask"): ""})
    assert [str(problem) for problem in found] == ["spec.promptFrom.configMapKeyRef: the prompt is empty"]


@pytest.mark.parametrize(
    ("prompt", "script", "system", "path"),
    [
        (60_000, 131_000, 6_000, "spec.model.script"),
        (65_500, 65_500, 65_536, "AgentProfile p: spec.systemPrompt"),
    ],
)
def test_a_document_over_its_limit_names_its_largest_part(
    prompt: int, script: int, system: int, path: str
) -> None:
    big = run(prompt="p" * prompt, model={"script": "s" * script})
    (found,) = problems(big, profile(systemPrompt="y" * system))
    assert found.path == path
    assert str(DOCUMENT_MAX) in found.message


def test_a_subagent_s_prompt_may_be_the_largest_part() -> None:
    types = [{"name": f"a{n}", "description": "x", "systemPrompt": "y" * 30_000 + "z" * n} for n in range(7)]
    (found,) = problems(run(prompt="p"), profile(subagents={"types": types}))
    assert found.path == "AgentProfile p: spec.subagents.types[6].systemPrompt"


def test_subagents_are_carried_as_the_profile_has_them() -> None:
    given = {"enabled": True, "types": [{"name": "critic", "description": "Finds faults.", "tools": ["ls"]}]}
    made = document(run(), profile(subagents=given))
    assert made.subagents.enabled
    assert [(kind.name, kind.tools, kind.max_turns) for kind in made.subagents.types] == [
        ("critic", ("ls",), 50)
    ]
    assert not document(run(), profile()).subagents.enabled


def test_size_is_counted_in_bytes() -> None:
    wide = run(model={"script": "→" * 65_600})
    (found,) = problems(wide, profile())
    assert found.path == "spec.model.script"
    assert "196800 bytes" in found.message


def test_the_document_survives_its_carriage() -> None:
    made = document(run(prompt='→ "quoted"\n'), profile())
    assert RunDocument.model_validate_json(document_json(made)) == made


def test_thread_of_a_run_is_its_own_uid_without_a_name() -> None:
    assert (thread_of(run()), thread_of(run(threadId="t"))) == ("u-1", "t")


def test_a_limit_of_cost_needs_a_price() -> None:
    limited = run(limits={"maxCostMicroUSD": 5, "maxTokens": 7})
    (found,) = problems(limited, profile())
    assert found.path == "spec.limits.maxCostMicroUSD"
    assert "AgentProfile p has no model.price" in found.message
    free = {"name": "scripted", "script": SCRIPT, "price": {}}
    made = document(limited, profile(free))
    assert (made.max_cost_micro_usd, made.max_tokens) == (5, 7)
    assert made.model.price is not None
    assert (document(run(), profile()).max_tokens, document(run(), profile()).model.price) == (None, None)


def test_titles_are_asked_of_a_model_of_the_profile_s() -> None:
    pipeline = {"title": {"model": "openai:small"}}
    (found,) = problems(run(), profile(pipeline=pipeline))
    assert found.path == "AgentProfile p: spec.pipeline.title.model"
    assert "'openai:small' is not allowed by AgentProfile p" in found.message
    allowed = profile(pipeline=pipeline, allowedModels=["openai:small"])
    assert document(run(), allowed).pipeline.title.model == "openai:small"


@pytest.mark.parametrize(
    ("epoch", "told", "resumes"),
    [
        (2, None, False),
        (2, {"progress": {"turn": 3, "modelCalls": 3, "toolCalls": 0}}, False),
        (2, {"progress": {"turn": 1, "modelCalls": 1, "toolCalls": 1}}, True),
        (3, {"progress": {"turn": 1, "modelCalls": 1, "toolCalls": 1}}, True),
        (2, {"outcome": {"class": "AwaitingInput"}}, True),
        (2, {"outcome": {"class": "Interrupted"}}, False),
        (1, {"progress": {"turn": 1, "modelCalls": 1, "toolCalls": 1}}, False),  # nothing went before
    ],
)
def test_a_run_that_has_acted_must_resume(epoch: int, told: dict[str, Any] | None, resumes: bool) -> None:
    status = {} if told is None else {"runner": {"epoch": 1, "podUID": "u"} | told}
    acted = run(prompt="p").model_copy(update={"status": AgentRunStatus.model_validate(status)})
    found = resolve(acted, profile(), {}, epoch=epoch)
    assert isinstance(found, RunDocument)
    assert found.resume is resumes
