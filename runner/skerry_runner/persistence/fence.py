"""Who may write a thread's checkpoints: the newest epoch of the run that has the thread.

Two tables of ours beside the library's. `skerry_epochs` keeps the highest epoch of each run, `skerry_threads` the run
that has the thread. A claim waits for writes under way, and a write that comes after it is refused.
"""

from __future__ import annotations

from skerry_runner.persistence.claim import Claim
from skerry_runner.persistence.errors import StateFenced
from skerry_runner.persistence.link import Connection

__all__ = ["TABLES", "check", "claim_thread"]

TABLES = """
CREATE TABLE IF NOT EXISTS skerry_epochs (
    run TEXT PRIMARY KEY, thread_id TEXT NOT NULL, epoch INTEGER NOT NULL,
    claimed_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS skerry_epochs_thread_id_idx ON skerry_epochs (thread_id);
CREATE TABLE IF NOT EXISTS skerry_threads (
    thread_id TEXT PRIMARY KEY, run TEXT NOT NULL, claimed_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
"""
_RAISE_EPOCH = """
INSERT INTO skerry_epochs (run, thread_id, epoch) VALUES (%s, %s, %s)
ON CONFLICT (run) DO UPDATE SET epoch = EXCLUDED.epoch, claimed_at = now()
WHERE skerry_epochs.epoch <= EXCLUDED.epoch
RETURNING epoch
"""
_TAKE_THREAD = """
INSERT INTO skerry_threads (thread_id, run) VALUES (%s, %s)
ON CONFLICT (thread_id) DO UPDATE SET run = EXCLUDED.run, claimed_at = now()
"""
# Shared: writes of one epoch need not wait for each other, a claim waits for them.
_MAY_WRITE = """
SELECT 1 FROM skerry_epochs e JOIN skerry_threads t USING (run, thread_id)
WHERE e.run = %s AND e.thread_id = %s AND e.epoch = %s
FOR SHARE OF e, t
"""


async def claim_thread(connection: Connection, claim: Claim) -> None:
    """From now on this epoch writes, and no older one. Raises StateFenced."""
    async with connection.transaction():
        raised = await connection.execute(_RAISE_EPOCH, (claim.run, claim.thread, claim.epoch))
        if await raised.fetchone() is None:
            raise StateFenced
        await connection.execute(_TAKE_THREAD, (claim.thread, claim.run))


async def check(connection: Connection, claim: Claim) -> None:
    """Within the transaction of a write: whether this epoch still may. Raises StateFenced."""
    found = await connection.execute(_MAY_WRITE, (claim.run, claim.thread, claim.epoch))
    if await found.fetchone() is None:
        raise StateFenced
