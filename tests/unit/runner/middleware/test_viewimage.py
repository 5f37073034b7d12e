"""ViewImage: bytes reach the model with the next request alone, and never a checkpoint."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from typing_extensions import override

from skerry_api.phases import OutcomeClass
from skerry_api.rows.viewimage import ViewImageSettings
from skerry_runner.checkpoint import memory_saver
from skerry_runner.messages import HIDDEN
from skerry_runner.middleware.viewimage import VIEWED, ViewImage, due, reference
from skerry_runner.state import ViewedImage, merge_images
from skerry_runner.tools.view_image import view_image
from skerry_testing.fakesandbox import FakeSandbox
from skerry_testing.rowrun import Played, placed, play
from skerry_testing.runnerworld import RunnerWorld, document

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
PATH = "/mnt/user-data/workspace/"


def image(call: str) -> ViewedImage:
    return ViewedImage(call=call, path=f"{PATH}{call}.png", mime="image/png", size=9, sha256="0" * 64)


def looking(*calls: str, other: str | None = None) -> AIMessage:
    made = [{"name": "view_image", "args": {}, "id": call} for call in calls]
    return AIMessage(
        "", id="m1", tool_calls=made + ([{"name": "ls", "args": {}, "id": other}] if other else [])
    )


def answer(call: str) -> ToolMessage:
    return ToolMessage("ok", tool_call_id=call)


ASK = HumanMessage("look")
ONE = looking("c1")
CASES: dict[str, tuple[list[AnyMessage], list[str]]] = {
    "looked at": ([ASK, ONE, answer("c1")], ["c1"]),
    "two at once": ([looking("c1", "c2"), answer("c2"), answer("c1")], ["c1", "c2"]),
    "beside another call": ([looking("c1", other="c9"), answer("c9"), answer("c1")], ["c1"]),
    "another call is not answered": ([looking("c1", other="c9"), answer("c1")], []),
    "not answered": ([ASK, ONE], []),
    "answered with an error": ([looking("c3"), answer("c3")], []),
    "shown already": ([ONE, answer("c1"), reference(ONE, [image("c1")])], []),
    "an answer later": ([ONE, answer("c1"), AIMessage("I see")], []),
    "another hidden message between": ([ONE, answer("c1"), HumanMessage("x", additional_kwargs={HIDDEN: True})], ["c1"]),
    "no calls": ([ASK, AIMessage("hi")], []),
    "nothing": ([], []),
    "a user who types the text": ([ONE, answer("c1"), HumanMessage("Images you have looked at:")], ["c1"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_when_images_are_due(case: str) -> None:
    messages, calls = CASES[case]
    found = due(messages, [image("c1"), image("c2")])
    assert ([] if found is None else [each["call"] for each in found[1]]) == calls


def test_the_newest_images_are_remembered() -> None:
    merged = merge_images([image(f"c{n}") for n in range(64)], [image("c0"), image("new")])
    assert (len(merged), merged[0]["call"], merged[-1]["call"]) == (64, "c1", "new")


class Requests(AgentMiddleware[Any, Any, Any]):
    """Innermost: keeps the requests as the model gets them; fails the first attempts if told so."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[AnyMessage]] = []
        self.failures: list[BaseException] = []
        self.stuck: asyncio.Event | None = None

    @override
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        self.seen.append(list(request.messages))
        if self.stuck is not None and len(self.seen) == 2:
            self.stuck.set()
            await asyncio.Event().wait()
        if self.failures and len(self.seen) > 1:
            raise self.failures.pop(0)
        return await handler(request)

    def images(self) -> list[list[str]]:
        """Per request, what stands for images in it: data or notes."""
        return [[data for message in messages for data in _images(message)] for messages in self.seen]


def _images(message: AnyMessage) -> list[str]:
    blocks = message.content if isinstance(message.content, list) else []
    return [b["base64"] if b["type"] == "image" else b["text"] for b in blocks[1:] if isinstance(b, dict)]


class Retrying(AgentMiddleware[Any, Any, Any]):
    """As LLMErrorHandling outside of it does."""

    @override
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        for _ in range(3):
            try:
                return await handler(request)
            except ConnectionError:
                continue
        raise AssertionError


def looking_at(*names: str) -> str:
    calls = ", ".join(f"{{name: view_image, args: {{image_path: {name}}}}}" for name in names)
    return f"steps: [{{toolCalls: [{calls}]}}, {{toolCalls: [{{name: ls}}]}}, {{say: done}}]"


async def run(
    world: RunnerWorld, requests: Requests, script: str, row: ViewImage | None = None, **kwargs: Any
) -> Played:
    doc = document(script, run=kwargs.pop("run", "run-uid-1"))
    rows = placed(
        doc,
        {"RunGate": Retrying()},
        [row or ViewImage(ViewImageSettings(**kwargs.pop("settings", {}))), requests],
    )
    return await play(world, doc, rows, tools=[view_image], **kwargs)


async def test_the_model_sees_the_image_once(world: RunnerWorld) -> None:
    world.provider.sandbox.files = {
        f"{PATH}a.png": PNG,
        f"{PATH}b.png": PNG[::-1].replace(PNG[::-1][:8], PNG[:8]),
    }
    requests, saver = Requests(), memory_saver()
    played = await run(world, requests, looking_at("a.png", "b.png"), saver=saver)
    assert played.result.outcome.class_ is OutcomeClass.SUCCEEDED, played.result.outcome
    first, second = (
        base64.b64encode(world.provider.sandbox.files[f"{PATH}{name}.png"]).decode() for name in "ab"
    )
    assert requests.images() == [[], [f"{PATH}a.png:", first, f"{PATH}b.png:", second], []]
    (hidden,) = [m for m in played.messages if m.additional_kwargs.get(VIEWED)]
    assert hidden.additional_kwargs[HIDDEN] is True
    assert [image["path"] for image in hidden.additional_kwargs[VIEWED]] == [f"{PATH}a.png", f"{PATH}b.png"]
    stored = [str(kept) async for kept in saver.alist(None)]
    assert stored
    assert not any(first[:40] in text for text in stored)


async def test_the_journal_names_the_image_s_size(world: RunnerWorld) -> None:
    world.provider.sandbox.files = {f"{PATH}a.png": PNG}
    script = (
        "steps: [{toolCalls: [{name: view_image, args: {image_path: a.png}}]}, "
        f"{{expect: {{contains: ['\\[image image/png {len(PNG)}\\]']}}, say: done}}]"
    )
    played = await run(world, Requests(), script)
    assert played.result.outcome.class_ is OutcomeClass.SUCCEEDED, played.result.outcome


async def test_every_attempt_sees_the_same_bytes(world: RunnerWorld) -> None:
    world.provider.sandbox.files = {f"{PATH}a.png": PNG}
    requests = Requests()
    requests.failures = [ConnectionError(), ConnectionError()]
    reads = 0

    class Counting(FakeSandbox):
        @override
        async def read_file(self, path: str, *, offset: int = 0, limit: int | None = None) -> bytes:
            nonlocal reads
            reads += 1
            return await super().read_file(path, offset=offset, limit=limit)

    world.provider.sandbox = Counting(files=world.provider.sandbox.files)
    row = ViewImage(ViewImageSettings())
    await run(world, requests, looking_at("a.png"), row)
    seen = requests.images()
    assert seen[1] == seen[2] == seen[3] != []
    assert (len(seen), seen[4], reads) == (5, [], 2)
    assert row._read == {}


@pytest.mark.parametrize(
    ("change", "note"),
    [(b"other", "it has changed since"), (None, "does not exist"), (PNG + b"x", "it has changed since")],
)
async def test_an_image_that_is_not_as_it_was_is_not_shown(
    world: RunnerWorld, change: bytes | None, note: str
) -> None:
    class Changing(FakeSandbox):
        looked = 0

        @override
        async def read_file(self, path: str, *, offset: int = 0, limit: int | None = None) -> bytes:
            data = await super().read_file(path, offset=offset, limit=limit)
            self.files = {} if change is None else {path: change}
            return data

    world.provider.sandbox = Changing(files={f"{PATH}a.png": PNG})
    requests = Requests()
    played = await run(world, requests, looking_at("a.png"))
    assert played.result.outcome.class_ is OutcomeClass.SUCCEEDED, played.result.outcome
    (shown,) = requests.images()[1]
    assert note in shown


async def test_a_request_holds_only_so_much_the_last_first(world: RunnerWorld) -> None:
    world.provider.sandbox.files = {f"{PATH}{name}.png": PNG for name in "abc"}
    requests = Requests()
    await run(
        world, requests, looking_at("a.png", "b.png", "c.png"), settings={"max_request_bytes": 2 * len(PNG)}
    )
    data = base64.b64encode(PNG).decode()
    assert requests.images()[1] == [
        f"{PATH}a.png can't be shown: too many images for one request", f"{PATH}b.png:", data, f"{PATH}c.png:", data,
    ]  # fmt: skip


async def test_a_failed_look_shows_nothing(world: RunnerWorld) -> None:
    requests = Requests()
    played = await run(world, requests, looking_at("none.png"))
    assert played.result.outcome.class_ is OutcomeClass.SUCCEEDED
    assert requests.images() == [[], [], []]
    assert not any(m.additional_kwargs.get(VIEWED) for m in played.messages)


async def test_a_new_epoch_shows_it_again(world: RunnerWorld) -> None:
    """The first epoch is cut off within the request that shows the image."""
    world.provider.sandbox.files = {f"{PATH}a.png": PNG}
    saver, row = memory_saver(), ViewImage(ViewImageSettings())
    cut = Requests()
    cut.stuck = asyncio.Event()
    first = asyncio.create_task(run(world, cut, looking_at("a.png"), row, saver=saver))
    await cut.stuck.wait()
    first.cancel()
    await asyncio.wait({first})
    assert row._read == {}
    again = Requests()
    played = await run(world, again, looking_at("a.png"), saver=saver)
    assert played.result.outcome.class_ is OutcomeClass.SUCCEEDED, played.result.outcome
    assert again.images()[0] == [f"{PATH}a.png:", base64.b64encode(PNG).decode()]


async def test_what_a_crashed_run_left_is_dropped_by_the_next(world: RunnerWorld) -> None:
    world.provider.sandbox.files = {f"{PATH}a.png": PNG}
    row, requests = ViewImage(ViewImageSettings()), Requests()
    requests.failures = [RuntimeError("crash")]
    crashed = await run(world, requests, looking_at("a.png"), row)
    assert crashed.result.outcome.class_ is OutcomeClass.APP_ERROR
    assert len(row._read) == 1
    await run(world, Requests(), "steps: [{say: hi}]", row, run="run-uid-2")
    assert row._read == {}
