"""Bytes that somebody crafted: they call nothing, import nothing, read nothing; at worst the run fails."""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_METHOD_SINGLE_ARG,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
    JsonPlusSerializer,
)
from langgraph.types import Interrupt
from typing_extensions import override

from skerry_runner.persistence.errors import StateUnusable
from skerry_runner.persistence.serializer import StrictSerializer


def ext(code: int, *parts: Any) -> bytes:
    return bytes(ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(parts))))


class Tempting:
    """What a pickle would call."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @override
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_state_comes_back_as_it_was() -> None:
    state = {
        "messages": [
            SystemMessage("s", id="0"), HumanMessage("a", id="1", additional_kwargs={"hide_from_ui": True}),
            AIMessage("b", id="2", tool_calls=[{"name": "x", "args": {"n": 1}, "id": "c"}]),
            ToolMessage("r", tool_call_id="c", id="3", artifact={"exit_code": 0}, status="error"),
        ],
        "limits": {"r": {"turns": 1}}, "sandbox": {"id": "s"}, "interrupts": [Interrupt("?", id="i")],
    }  # fmt: skip
    strict = StrictSerializer()
    assert strict.loads_typed(strict.dumps_typed(state)) == state


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        (EXT_CONSTRUCTOR_SINGLE_ARG, ("os", "mkdir", "PATH")),
        (EXT_CONSTRUCTOR_POS_ARGS, ("os", "mkdir", ("PATH",))),
        (EXT_CONSTRUCTOR_KW_ARGS, ("os", "mkdir", {"path": "PATH"})),
        (EXT_METHOD_SINGLE_ARG, ("pathlib", "Path", "PATH", "mkdir")),
        (EXT_PYDANTIC_V1, ("os", "mkdir", {"path": "PATH"}, "construct")),
        (EXT_PYDANTIC_V2, ("os", "mkdir", {"path": "PATH"}, "model_construct")),
    ],
    ids=["single", "positional", "keywords", "method", "pydantic v1", "pydantic v2"],
)
def test_a_crafted_call_is_not_made(tmp_path: Path, code: int, parts: tuple[Any, ...]) -> None:
    target = tmp_path / "made"
    text = ormsgpack.packb(parts).replace(b"\xa4PATH", ormsgpack.packb(str(target)))
    blob = bytes(ormsgpack.packb(ormsgpack.Ext(code, text)))
    found = StrictSerializer().loads_typed(("msgpack", blob))
    assert found in (str(target), [str(target)], {"path": str(target)})
    assert not target.exists()
    if code == EXT_CONSTRUCTOR_SINGLE_ARG:
        # The default serializer would have done it: the blob is a real one.
        JsonPlusSerializer(allowed_msgpack_modules=True).loads_typed(("msgpack", blob))
        assert target.exists()


def test_nothing_is_imported_for_a_blob() -> None:
    assert "antigravity" not in sys.modules
    StrictSerializer().loads_typed(("msgpack", ext(EXT_CONSTRUCTOR_SINGLE_ARG, "antigravity", "geohash", 1)))
    assert "antigravity" not in sys.modules


def test_a_pickle_is_not_read(tmp_path: Path) -> None:
    target = tmp_path / "made"
    with pytest.raises(StateUnusable, match="'pickle' is not read"):
        StrictSerializer().loads_typed(("pickle", pickle.dumps(Tempting(target))))
    assert not target.exists()


@pytest.mark.parametrize(
    "value",
    [
        {"lc": 1, "type": "secret", "id": ["PLANTED"]},
        {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "HumanMessage"], "kwargs": {"content": "x"}},
        {"lc": 2, "type": "constructor", "id": ["os", "mkdir"], "args": ["PLANTED"]},
    ],
    ids=["secret", "lc 1", "lc 2"],
)  # fmt: skip
def test_json_constructors_are_not_read(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "a secret of the environment")
    with pytest.raises(StateUnusable, match="'json' is not read"):
        StrictSerializer().loads_typed(("json", json.dumps(value).encode()))


@pytest.mark.parametrize("blob", [b"", b"\xc1", b"\xdd\xff\xff\xff\xff", b"\x91" * 100_000, b"\xd9\xff"])
def test_broken_bytes_are_a_clear_failure(blob: bytes) -> None:
    with pytest.raises(StateUnusable, match="a checkpoint can't be read"):
        StrictSerializer().loads_typed(("msgpack", blob))
