"""Which instances this machine has, and who gets which slot."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from skerry_devcluster.cluster import Claim, Mode, read_claim, write_claim
from skerry_devcluster.errors import CleanupError, UsageError
from skerry_devcluster.host import mounts, routes
from skerry_devcluster.layout import RECORD, InstancePaths, Layout
from skerry_devcluster.locks import locked
from skerry_devcluster.namespaces import BUILT_IN_PATHS
from skerry_devcluster.slots import SLOTS, allocate

__all__ = [
    "claim_instance",
    "claims",
    "kept_claims",
    "live_claim",
    "paths_of",
    "release",
    "remove_tree",
    "taken_slots",
]


def _claims_in(root: Path) -> list[Claim]:
    return [claim for path in sorted(root.glob("*/instance.json")) if (claim := read_claim(path))]


def claims(layout: Layout, boot: str) -> list[Claim]:
    """Instances that are up, or were when something killed them, in this boot."""
    return [claim for claim in _claims_in(layout.run) if claim.boot == boot]


def kept_claims(layout: Layout) -> list[Claim]:
    """Instances whose state lies somewhere, up or down: this user's, and all that this machine saw since its boot."""
    noted = [claim for slot in range(SLOTS) if (claim := read_claim(layout.slot_note(slot)))]
    return [*_claims_in(layout.clusters), *(claim for claim in noted if _keeps(claim))]


def _keeps(claim: Claim) -> bool:
    record = read_claim(Path(claim.state, RECORD))
    return record is not None and (record.name, record.slot) == (claim.name, claim.slot)


def live_claim(paths: InstancePaths, boot: str) -> Claim | None:
    claim = read_claim(paths.claim)
    return claim if claim and claim.boot == boot else None


def paths_of(layout: Layout, name: str, boot: str) -> InstancePaths:
    """Paths of an instance: of the one that is up, wherever its state lies, else of this user's."""
    paths = layout.instance(name)
    claim = live_claim(paths, boot)
    return replace(paths, state=Path(claim.state)) if claim else paths


def taken_slots(name: str, up: list[Claim], kept: list[Claim]) -> dict[int, str]:
    """Slots that others have: those that are up, and those that a kept state is bound to."""
    taken = {claim.slot: f"{claim.name!r} (kept state, down)" for claim in kept if claim.name != name}
    return taken | {claim.slot: f"{claim.name!r} (up)" for claim in up if claim.name != name}


def claim_instance(
    layout: Layout, paths: InstancePaths, mode: Mode, boot: str, waiting: Callable[[str], None]
) -> Claim:
    """Make the instance known to all others, with a slot of its own. Hold its lock.

    Raises:
        SlotError: no slot is free, or its own is not.
        UsageError: the name is up with another state, or in a mode that doesn't fit.
    """
    with locked(layout.machine_lock, waiting):
        mine = live_claim(paths, boot)
        if mine and mine.state != str(paths.state):
            raise UsageError(f"--name {paths.name}: is up already with the state in {mine.state}")
        if mine and mine.mode is Mode.FULL and mode is Mode.CONTROL_PLANE:
            raise UsageError(
                f"--name {paths.name}: is up as a full cluster; take it down first, or use another name"
            )
        if not mine and paths.run.exists():
            remove_tree(paths.run)  # of a former boot
        record = mine or read_claim(paths.record)
        routed = [network for network, device in routes() if not device.startswith("skerry")]
        slot = allocate(
            record.slot if record else None,
            taken_slots(paths.name, claims(layout, boot), kept_claims(layout)),
            routed,
        )
        claim = Claim(paths.name, slot.index, mode, str(paths.state), boot)
        if read_claim(paths.record) != claim:
            write_claim(paths.record, claim)
            write_claim(layout.slot_note(claim.slot), claim)
        if mine != claim:
            write_claim(paths.claim, claim)
        _make_shared(layout, ("/run/netns", *(BUILT_IN_PATHS if mode is Mode.FULL else ())))
        return claim


def _shared_file(layout: Layout) -> Path:
    return layout.run / ".shared-directories.json"


def _shared(layout: Layout) -> list[str]:
    try:
        made: list[str] = json.loads(_shared_file(layout).read_text())
    except (FileNotFoundError, ValueError):
        return []
    return made


def _make_shared(layout: Layout, directories: Sequence[str]) -> None:
    """Directories outside ours that all instances use, noted before they are made."""
    missing = [path for path in directories if not Path(path).is_dir()]
    if missing:
        _shared_file(layout).write_text(json.dumps(list(dict.fromkeys([*_shared(layout), *missing]))))
        for path in missing:
            Path(path).mkdir(parents=True)


def release(layout: Layout, paths: InstancePaths, boot: str, waiting: Callable[[str], None]) -> None:
    """Forget an instance whose resources are gone; the last one takes the shared directories along."""
    with locked(layout.machine_lock, waiting):
        remove_tree(paths.run)
        if claims(layout, boot):
            # not before: removing a mount point unmounts it in every other namespace
            return
        for path in _shared(layout):
            # whoever put something there since may keep it
            with suppress(OSError):
                Path(path).rmdir()
        _shared_file(layout).unlink(missing_ok=True)


def remove_tree(path: Path) -> None:
    """Remove a directory of ours, but never what something else has mounted into it.

    Raises:
        CleanupError: something is mounted there.
    """
    inside = [
        mount.point for mount in mounts() if mount.point == str(path) or mount.point.startswith(f"{path}/")
    ]
    if inside:
        raise CleanupError(f"{path} is not removed, something is mounted there: {', '.join(inside)}")
    if path.exists():
        shutil.rmtree(path)
