"""DeferredToolFilter through the real graph: hidden, refused, promoted, and hidden again."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from typing_extensions import override

from skerry_api.phases import OutcomeClass
from skerry_api.rows.deferredtoolfilter import DeferredToolFilterSettings
from skerry_runner.deferred import Catalogue, Loaded
from skerry_runner.middleware.deferredtoolfilter import DeferredToolFilter, refusal, visible
from skerry_runner.ports import RunResult
from skerry_runner.state import Promoted
from skerry_testing.deferredtools import FakeServers, deferred, plain_tool
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.serverruns import ServerRuns

ALPHA, BETA, GAMMA = deferred("alpha", "Alpha things."), deferred("beta"), deferred("gamma")


def runs_with(world: RunnerWorld, servers: FakeServers, *, fused: bool = True) -> ServerRuns:
    return ServerRuns(world, lambda _session: servers, fused=fused)


def step(
    *calls: tuple[str, dict[str, Any]], tools: list[str], hidden: list[str], **more: Any
) -> dict[str, Any]:
    """A step that wants to see `tools` and none of `hidden`, and makes the calls; without any it ends."""
    expect = {"tools": {"include": tools, "exclude": hidden}} | more
    if not calls:
        return {"expect": expect, "say": "done"}
    return {"expect": expect, "toolCalls": [{"name": name, "args": args} for name, args in calls]}


async def play(
    runs: ServerRuns, *steps: dict[str, Any], run: str = "run-uid-1", tools: tuple[Any, ...] = ()
) -> RunResult:
    result = await runs.play(document(json.dumps({"steps": steps}), run=run, tools=tools))
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    return result


def results(world: RunnerWorld) -> list[tuple[str, str, str]]:
    return [(e["name"], e["status"], e["content"]) for e in world.sink.events("tool.result")]


ALL = ["alpha", "beta", "gamma"]


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "separate"])
async def test_hidden_until_found_then_callable(world: RunnerWorld, fused: bool) -> None:
    servers = FakeServers((ALPHA, BETA, GAMMA))
    runs = runs_with(world, servers, fused=fused)
    await play(
        runs,
        step(("tool_search", {"query": "select:alpha"}), tools=["tool_search"], hidden=ALL),
        step(
            ("alpha", {"x": "1"}),
            tools=["tool_search", "alpha"], hidden=["beta", "gamma"], contains=['"name": "alpha", "description"'],
        ),
        step(tools=["alpha"], hidden=["beta", "gamma"], contains=["alpha did 1"]),
    )  # fmt: skip
    assert [(name, status) for name, status, _ in results(world)] == [
        ("tool_search", "success"), ("alpha", "success"),
    ]  # fmt: skip
    assert (await runs.values())["promoted"] == {"catalogue": servers.catalogue.hash, "names": ["alpha"]}
    assert (servers.asked, servers.closed) == (1, 1)


async def test_a_guess_is_refused_and_not_carried_out(world: RunnerWorld) -> None:
    servers = FakeServers((ALPHA, BETA))
    runs = runs_with(world, servers)
    await play(
        runs,
        step(("tool_search", {"query": "alpha"}), tools=["tool_search"], hidden=ALL),
        step(("beta", {"x": "1"}), ("alpha", {"x": "2"}), tools=["alpha"], hidden=["beta"]),
        step(tools=["alpha"], hidden=["beta"]),
    )
    seen = {name: (status, content) for name, status, content in results(world)[1:]}
    assert seen == {"beta": ("error", refusal("beta")), "alpha": ("success", "alpha did 2")}
    assert "select:beta" in refusal("beta")
    assert "beta did" not in json.dumps(world.sink.events())


async def test_before_any_search_a_guess_names_no_tool(world: RunnerWorld) -> None:
    servers = FakeServers((ALPHA,))
    await play(
        runs_with(world, servers),
        step(("alpha", {}), tools=["tool_search"], hidden=ALL),
        step(tools=["tool_search"], hidden=ALL),
    )
    ((name, status, content),) = results(world)
    assert (name, status) == ("alpha", "error")
    assert "alpha did" not in content
    # A guess alone costs no connection.
    assert servers.asked == 0


async def test_a_search_and_a_call_in_one_message(world: RunnerWorld) -> None:
    """Calls of one message run side by side: the promotion holds from the next turn on."""
    servers = FakeServers((ALPHA,), catalogue=Catalogue((ALPHA,)), loaded=True)
    await play(
        runs_with(world, servers),
        step(("tool_search", {"query": "alpha"}), ("alpha", {}), tools=["tool_search"], hidden=ALL),
        step(("alpha", {}), tools=["alpha"], hidden=[]),
        step(tools=["alpha"], hidden=[]),
    )
    ends = [(name, status) for name, status, _ in results(world)]
    assert sorted(ends[:2]) == [("alpha", "error"), ("tool_search", "success")]
    assert ends[2:] == [("alpha", "success")]


async def test_searches_side_by_side_add_up(world: RunnerWorld) -> None:
    servers = FakeServers((ALPHA, BETA, GAMMA))
    runs = runs_with(world, servers)
    await play(
        runs,
        step(
            ("tool_search", {"query": "select:gamma"}), ("tool_search", {"query": "select:alpha"}),
            tools=["tool_search"], hidden=ALL,
        ),
        step(("tool_search", {"query": "select:alpha"}), tools=["alpha", "gamma"], hidden=["beta"]),
        step(tools=["alpha", "gamma"], hidden=["beta"]),
    )  # fmt: skip
    assert (await runs.values())["promoted"]["names"] == ["gamma", "alpha"]


async def test_another_run_of_the_thread_has_what_was_promoted(world: RunnerWorld) -> None:
    first, second = FakeServers((ALPHA, BETA)), FakeServers((ALPHA, BETA))
    runs = runs_with(world, first)
    await play(
        runs, step(("tool_search", {"query": "alpha"}), tools=["tool_search"], hidden=ALL), {"say": "ok"}
    )
    runs.open_servers = lambda _session: second
    await play(runs, step(("alpha", {}), tools=["alpha"], hidden=["beta"]), {"say": "ok"}, run="run-uid-2")
    assert (second.asked, second.closed) == (1, 1)
    assert results(world)[-1] == ("alpha", "success", "alpha did ")


async def test_a_changed_catalogue_hides_all_again(world: RunnerWorld) -> None:
    changed = FakeServers((deferred("alpha", "Something else."), BETA))
    runs = runs_with(world, FakeServers((ALPHA, BETA)))
    await play(
        runs, step(("tool_search", {"query": "alpha"}), tools=["tool_search"], hidden=ALL), {"say": "ok"}
    )
    runs.open_servers = lambda _session: changed
    await play(
        runs,
        step(("alpha", {}), tools=["tool_search"], hidden=ALL),
        step(("tool_search", {"query": "select:beta"}), tools=["tool_search"], hidden=ALL),
        step(tools=["beta"], hidden=["alpha"]),
        run="run-uid-2",
    )
    assert results(world)[1] == ("alpha", "error", refusal("alpha"))
    assert (await runs.values())["promoted"] == {"catalogue": changed.catalogue.hash, "names": ["beta"]}


async def test_a_server_that_comes_late_takes_nothing_away(world: RunnerWorld) -> None:
    servers = FakeServers(
        loads=[
            Loaded(Catalogue((ALPHA, BETA)), {"other": "no answer within 30 s"}),
            Loaded(Catalogue((ALPHA, BETA, GAMMA))),
        ]
    )
    await play(
        runs_with(world, servers),
        step(("tool_search", {"query": "select:alpha"}), tools=["tool_search"], hidden=ALL),
        step(
            ("tool_search", {"query": "select:gamma"}),
            tools=["alpha"], hidden=["beta", "gamma"], contains=["Server other could not be searched: no answer within 30 s"],
        ),
        step(tools=["alpha", "gamma"], hidden=["beta"]),
    )  # fmt: skip


async def test_nothing_found_is_told_and_promotes_nothing(world: RunnerWorld) -> None:
    servers = FakeServers((ALPHA, BETA))
    runs = runs_with(world, servers)
    await play(
        runs,
        step(
            ("tool_search", {"query": "zzz"}), ("tool_search", {"query": "select:gone"}), tools=[], hidden=ALL
        ),
        step(tools=[], hidden=ALL),
    )
    # Side by side, so in either order.
    assert sorted((status, text) for _, status, text in results(world)) == [
        ("success", "Nothing found. Tools that can be searched: alpha, beta."),
        (
            "success",
            'There is no tool named "gone".\nNothing found. Tools that can be searched: alpha, beta.',
        ),
    ]
    assert (await runs.values()).get("promoted") is None


@pytest.mark.parametrize("args", [{}, {"query": ""}, {"query": 5}])
async def test_bad_arguments_are_a_result(world: RunnerWorld, args: dict[str, Any]) -> None:
    servers = FakeServers((ALPHA,))
    await play(runs_with(world, servers), step(("tool_search", args), tools=[], hidden=ALL), {"say": "ok"})
    ((_, status, _),) = results(world)
    assert (status, servers.asked) == ("error", 0)


async def test_bound_tools_need_no_search(world: RunnerWorld) -> None:
    servers = FakeServers((ALPHA,), bound=[plain_tool("ready")])
    await play(
        runs_with(world, servers), step(("ready", {"x": "y"}), tools=["ready"], hidden=ALL), {"say": "ok"}
    )
    assert results(world) == [("ready", "success", "ready did y")]


async def test_a_cancelled_search_lets_go_of_the_servers(world: RunnerWorld) -> None:
    begun = asyncio.Event()

    class Stuck(FakeServers):
        @override
        async def load(self) -> Loaded:
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

    servers = Stuck((ALPHA,))
    runs = runs_with(world, servers)
    script = json.dumps({"steps": [step(("tool_search", {"query": "a"}), tools=[], hidden=[])]})
    task = asyncio.create_task(runs.play(document(script, tools=())))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert servers.closed == 1


def test_the_request_stays_the_same_object_when_nothing_is_promoted() -> None:
    plain = plain_tool("plain")
    assert visible([plain, {"name": "x"}], Catalogue((ALPHA,)), None) == [plain, {"name": "x"}]


def test_a_deferred_tool_that_somebody_bound_is_hidden_too() -> None:
    catalogue = Catalogue((ALPHA, BETA))
    assert visible(
        [ALPHA.tool, BETA.tool], catalogue, Promoted(catalogue=catalogue.hash, names=["beta"])
    ) == [BETA.tool]


def test_a_registered_tool_of_the_same_name_wins() -> None:
    own, catalogue = plain_tool("alpha"), Catalogue((ALPHA,))
    assert visible([own], catalogue, Promoted(catalogue=catalogue.hash, names=["alpha"])) == [own]


def test_the_search_tool_tells_where_it_searches() -> None:
    (tool,) = DeferredToolFilter(
        DeferredToolFilterSettings(), [("srv", "For  all\nthings."), ("bare", "")]
    ).tools
    assert tool.description.endswith("Servers to search:\n- srv: For all things.\n- bare")
