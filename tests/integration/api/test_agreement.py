"""The offline checks and the real API server say the same of every manifest of one table.

The table says which fields are at fault; the unit tests hold the offline checks to it, these hold the server.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from skerry_api.strict import check
from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.badinput import ROWS, Row
from skerry_testing.controlplane import ControlPlane
from skerry_testing.junk import mangled
from skerry_testing.manifests import CASES, Case
from skerry_testing.schemas import all_rules

BY_ID = {case.id: case for case in CASES}
UNKNOWN = re.compile(r'unknown field "([^"]+)"')
MESSAGES = {rule.message for rule in all_rules()}


@pytest_asyncio.fixture
async def dry(plane: ControlPlane) -> AsyncIterator[ApiServer]:
    """Nothing is kept, so no namespace of one's own is needed."""
    async with ApiServer(plane.access, "default") as api:
        yield api


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_the_server_names_the_same_fields(dry: ApiServer, case: Case) -> None:
    assert await server_faults(dry, case.manifest) == case.faults


@pytest.mark.parametrize("case", [case for case in CASES if case.faults], ids=lambda case: case.id)
async def test_broken_rules_read_the_same(dry: ApiServer, case: Case) -> None:
    rules = [problem for problem in check(case.manifest) if problem.message in MESSAGES]
    with pytest.raises(ApiError) as refused:
        await dry.create(case.manifest, dry_run=True)
    for problem in rules:
        said = [cause.message for cause in refused.value.causes if cause.field == problem.path]
        assert any(message.endswith(f": {problem.message}") for message in said), said


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.proofs[0] in BY_ID], ids=lambda row: row.input[:60]
)
async def test_the_server_answers_in_the_words_of_the_page(dry: ApiServer, row: Row) -> None:
    for case in row.proofs:
        with pytest.raises(ApiError) as refused:
            await dry.create(BY_ID[case].manifest, dry_run=True)
        assert row.answer in refused.value.message


@pytest.mark.parametrize("seed", range(200))
async def test_the_verdict_on_mangled_manifests_is_the_same(dry: ApiServer, seed: int) -> None:
    manifest = mangled(seed)
    said, ours = await server_faults(dry, manifest), {problem.path for problem in check(manifest)}
    # The server stops at unknown fields; ours goes on.
    assert bool(ours) == bool(said), (manifest, ours, said)
    assert said <= ours, (manifest, ours, said)


async def server_faults(api: ApiServer, manifest: dict[str, object]) -> set[str]:
    try:
        await api.create(manifest, dry_run=True)
    except ApiError as error:
        return error.fields or set(UNKNOWN.findall(error.message)) or {f"?{error}"}
    return set()
