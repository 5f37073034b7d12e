"""Where a thread's state (checkpoints, journal, artifacts) is kept between the epochs and runs of a thread."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, validations
from skerry_api.common import ObjectName, SecretKeyRef

__all__ = ["DEFAULT_KEEP_RUNS", "Persistence", "PersistenceType", "PostgresPersistence", "StateVolume"]

DEFAULT_RETENTION = 604_800
"""Seconds: seven days."""
DEFAULT_KEEP_RUNS = 20
AccessMode = Literal["ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany"]
VolumeSize = Annotated[
    str, StringConstraints(min_length=1, max_length=32, pattern=r"^[1-9][0-9]*(Mi|Gi|Ti|M|G|T)$")
]


class PersistenceType(StrEnum):
    """Ephemeral: gone with the runner Pod. Volume: one volume per thread. Postgres: a database for all threads."""

    EPHEMERAL = "Ephemeral"
    VOLUME = "Volume"
    POSTGRES = "Postgres"

    @property
    def durable(self) -> bool:
        """Whether another runner Pod finds the checkpoints of an earlier one."""
        return self is not PersistenceType.EPHEMERAL


class StateVolume(KubeModel):
    """The volume that a thread gets at its first run; later changes touch new volumes only, retention apart."""

    size: VolumeSize = Field(default="1Gi", description="Size of the volume.")
    storage_class_name: ObjectName | None = Field(
        default=None, description="StorageClass of the volume; the cluster's default one if absent."
    )
    access_mode: AccessMode = Field(
        default="ReadWriteOnce", description="Access mode of the claim; a thread has one run at a time."
    )
    retention_seconds: int = Field(
        default=DEFAULT_RETENTION,
        ge=0,
        le=315_360_000,
        description="How long the volume is kept after the thread's last run has ended, in seconds.",
    )
    keep_runs: int = Field(
        default=DEFAULT_KEEP_RUNS,
        ge=1,
        le=1000,
        description="How many of the thread's runs keep artifacts and journal on it: older runs' go when a run begins.",
    )


class PostgresPersistence(KubeModel):
    dsn_secret_ref: SecretKeyRef = Field(
        description="Secret that holds the connection string (libpq URI or keywords); it reaches the runner Pod alone."
    )


class Persistence(KubeModel):
    """Where checkpoints are kept: what a retry resumes from and what runs of one thread share."""

    type: PersistenceType = Field(
        default=PersistenceType.EPHEMERAL,
        description="Ephemeral (in the runner's memory), Volume (a volume per thread) or Postgres.",
    )
    volume: StateVolume | None = Field(
        default=None, description="The volume of each thread, with type Volume; defaults if absent."
    )
    postgres: PostgresPersistence | None = Field(
        default=None, description="The database, required with type Postgres."
    )

    model_config = KubeModel.model_config | {
        "json_schema_extra": validations("volume-only", "postgres-only", "postgres-dsn")
    }

    @property
    def state_volume(self) -> StateVolume | None:
        """The volume that a thread gets; None with another type."""
        if self.type is not PersistenceType.VOLUME:
            return None
        return self.volume or StateVolume()
