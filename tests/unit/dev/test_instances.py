"""Who has which slot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from skerry_devcluster.cluster import Claim, Mode, write_claim
from skerry_devcluster.instances import claims, kept_claims, live_claim, paths_of, remove_tree, taken_slots
from skerry_devcluster.layout import RECORD, Layout


def claim(name: str, slot: int, boot: str = "now", state: str = "/elsewhere") -> Claim:
    return Claim(name, slot, Mode.FULL, state, boot)


def layout(tmp_path: Path) -> Layout:
    return Layout(cache=tmp_path / "cache", clusters=tmp_path / "clusters", run=tmp_path / "run")


def test_others_hold_their_slots_up_or_down() -> None:
    up = [claim("demo", 0), claim("mine", 3)]
    kept = [claim("demo", 0), claim("mine", 3), claim("old", 7, boot="before")]
    assert taken_slots("mine", up, kept) == {0: "'demo' (up)", 7: "'old' (kept state, down)"}


def test_a_kept_state_holds_its_slot_wherever_it_lies(tmp_path: Path) -> None:
    roots = layout(tmp_path)
    mine = claim("mine", 0, state=str(roots.clusters / "mine"))
    theirs = claim("theirs", 1, state=str(tmp_path / "another" / "theirs"))
    wiped = claim("wiped", 2, state=str(tmp_path / "another" / "wiped"))
    moved = claim("moved", 3, state=str(tmp_path / "another" / "moved"))
    write_claim(roots.instance("mine").record, mine)
    for kept, slot in ((theirs, 1), (moved, 4)):
        write_claim(Path(kept.state, RECORD), replace(kept, slot=slot))
    for noted in (theirs, wiped, moved):
        write_claim(roots.slot_note(noted.slot), noted)
    assert kept_claims(roots) == [mine, theirs]


def test_claims_of_a_former_boot_are_not_up(tmp_path: Path) -> None:
    roots = layout(tmp_path)
    for entry in (claim("demo", 0), claim("old", 1, boot="before")):
        write_claim(roots.instance(entry.name).claim, entry)
    (roots.run / ".locks").mkdir()
    assert [entry.name for entry in claims(roots, "now")] == ["demo"]
    assert live_claim(roots.instance("demo"), "now") == claim("demo", 0)
    assert live_claim(roots.instance("old"), "now") is None
    assert live_claim(roots.instance("other"), "now") is None


def test_the_state_of_one_that_is_up_is_where_its_claim_says(tmp_path: Path) -> None:
    roots = layout(tmp_path)
    write_claim(roots.instance("demo").claim, claim("demo", 0, state="/of/another/user/demo"))
    assert paths_of(roots, "demo", "now").state == Path("/of/another/user/demo")
    assert paths_of(roots, "demo", "later").state == roots.clusters / "demo"


def test_a_tree_is_removed_once_and_again(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    remove_tree(tree)
    remove_tree(tree)
    assert not tree.exists()
