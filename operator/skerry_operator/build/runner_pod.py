"""The runner Pod of one epoch: trusted, holds the model's key, never runs what the model wrote."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from kubernetes import client

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.common import Resources, SecretKeyRef
from skerry_api.document import API_KEY_ENV, DOCUMENT_PATH, DSN_ENV
from skerry_api.files import FILES_PATH
from skerry_api.guardrail import GUARDRAIL_HEADERS_ENV
from skerry_api.labels import Annotation, Component, Label
from skerry_api.mcp import headers_env
from skerry_api.names import hash_label, runner_pod_name
from skerry_api.skills import SKILLS_PATH, ProfileSkill
from skerry_operator.build import podparts as part
from skerry_operator.build.meta import component_labels, owner, wire
from skerry_operator.build.security import container_security, pod_security
from skerry_operator.build.state_volume import state_volume_of
from skerry_operator.settings import PlanSettings

__all__ = ["build_runner_pod"]

TOKEN_DIR = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a path
TOKEN_SECONDS = 3600
RESOURCES = Resources(
    requests={"cpu": "50m", "memory": "192Mi", "ephemeral-storage": "64Mi"},
    limits={"cpu": "1", "memory": "1Gi", "ephemeral-storage": "2Gi"},
)


def build_runner_pod(
    run: AgentRun, profile: AgentProfile, epoch: int, document: str, settings: PlanSettings
) -> dict[str, Any]:
    """The Pod `<run>-<epoch>` as JSON; `document` is the text of the run document."""
    meta, files = run.metadata, _files_volumes(run)
    return wire(
        client.V1Pod(
            api_version="v1",
            kind="Pod",
            metadata=client.V1ObjectMeta(
                name=runner_pod_name(meta.name, epoch),
                namespace=meta.namespace,
                labels=component_labels(Component.RUNNER)
                | {
                    Label.RUN.value: meta.name,
                    Label.RUN_UID.value: meta.uid,
                    Label.EPOCH.value: str(epoch),
                    Label.PROFILE.value: hash_label(profile.metadata.name),
                    Label.PERSISTENCE.value: profile.spec.persistence.type.value,
                },
                annotations={Annotation.DOCUMENT.value: document},
                owner_references=[owner(run)],
            ),
            spec=client.V1PodSpec(
                containers=[_container(profile, settings, files=bool(files))],
                restart_policy="Never",
                service_account_name=settings.runner_service_account,
                # The projected volume below is the same with a bound, short-lived token.
                automount_service_account_token=False,
                enable_service_links=False,
                security_context=pod_security(),
                termination_grace_period_seconds=30,
                volumes=[
                    _document_volume(),
                    _token_volume(),
                    _state_volume(run, profile),
                    part.empty_dir("tmp", "512Mi"),
                    *files,
                    *_skill_volumes(profile),
                ],
            ),
        )
    )


def _container(profile: AgentProfile, settings: PlanSettings, *, files: bool) -> client.V1Container:
    wanted = profile.spec.runner
    return client.V1Container(
        name=Component.RUNNER.value,
        image=wanted.image or settings.runner_image,
        image_pull_policy=wanted.image_pull_policy or settings.image_pull_policy,
        env=[
            part.field_env("POD_NAME", "metadata.name"),
            part.field_env("POD_UID", "metadata.uid"),
            part.field_env("POD_NAMESPACE", "metadata.namespace"),
            part.field_env("NODE_NAME", "spec.nodeName"),
            *_api_key(profile),
            *_mcp_headers(profile),
            *_dsn(profile),
            *_guardrail_headers(profile),
        ],
        resources=part.resources(wanted.resources, RESOURCES),
        security_context=container_security(),
        termination_message_policy="File",
        volume_mounts=[
            part.mount("document", str(PurePosixPath(DOCUMENT_PATH).parent), read_only=True),
            part.mount("token", TOKEN_DIR, read_only=True),
            part.mount("state", "/var/lib/skerry"),
            part.mount("tmp", "/tmp"),  # noqa: S108 - the container's own
            *([part.mount("files", FILES_PATH, read_only=True)] if files else []),
            *(
                part.mount(volume, f"{SKILLS_PATH}/{skill.name}", read_only=True)
                for volume, skill in _skills(profile)
            ),
        ],
    )


def _state_volume(run: AgentRun, profile: AgentProfile) -> client.V1Volume:
    if profile.spec.persistence.state_volume is None:
        return part.empty_dir("state", "1Gi")
    claim = client.V1PersistentVolumeClaimVolumeSource(claim_name=state_volume_of(run))
    return client.V1Volume(name="state", persistent_volume_claim=claim)


def _dsn(profile: AgentProfile) -> list[client.V1EnvVar]:
    database = profile.spec.persistence.postgres
    return [] if database is None else [_secret_env(DSN_ENV, database.dsn_secret_ref)]


def _mcp_headers(profile: AgentProfile) -> list[client.V1EnvVar]:
    return [
        _secret_env(headers_env(server.name), server.headers_secret_ref)
        for server in profile.spec.mcp_servers
        if server.headers_secret_ref is not None
    ]


def _guardrail_headers(profile: AgentProfile) -> list[client.V1EnvVar]:
    guardrail = profile.spec.guardrail
    ref = guardrail.http.headers_secret_ref if guardrail is not None and guardrail.http is not None else None
    return [] if ref is None else [_secret_env(GUARDRAIL_HEADERS_ENV, ref)]


def _api_key(profile: AgentProfile) -> list[client.V1EnvVar]:
    ref = profile.spec.model.api_key_secret_ref
    return [] if ref is None else [_secret_env(API_KEY_ENV, ref)]


def _secret_env(name: str, ref: SecretKeyRef) -> client.V1EnvVar:
    key = client.V1SecretKeySelector(name=ref.name, key=ref.key)
    return client.V1EnvVar(name=name, value_from=client.V1EnvVarSource(secret_key_ref=key))


def _files_volumes(run: AgentRun) -> list[client.V1Volume]:
    """One volume with the values of the ConfigMaps that spec.files names; none if it names none."""
    sources = [
        client.V1VolumeProjection(
            config_map=client.V1ConfigMapProjection(
                name=file.config_map_key_ref.name,
                items=[client.V1KeyToPath(key=file.config_map_key_ref.key, path=str(index))],
            )
        )
        for index, file in enumerate(run.spec.files)
        if file.config_map_key_ref is not None
    ]
    projected = client.V1ProjectedVolumeSource(sources=sources)
    return [client.V1Volume(name="files", projected=projected)] if sources else []


def _skills(profile: AgentProfile) -> list[tuple[str, ProfileSkill]]:
    """Those that can be used, each with the name of its volume."""
    return [(f"skill-{index}", skill) for index, skill in enumerate(profile.spec.skills) if skill.enabled]


def _skill_volumes(profile: AgentProfile) -> list[client.V1Volume]:
    return [
        client.V1Volume(
            name=volume, config_map=client.V1ConfigMapVolumeSource(name=skill.config_map_ref.name)
        )
        for volume, skill in _skills(profile)
    ]


def _document_volume() -> client.V1Volume:
    item = client.V1DownwardAPIVolumeFile(
        path=PurePosixPath(DOCUMENT_PATH).name,
        field_ref=part.field_path(f"metadata.annotations['{Annotation.DOCUMENT}']"),
    )
    return client.V1Volume(name="document", downward_api=client.V1DownwardAPIVolumeSource(items=[item]))


def _token_volume() -> client.V1Volume:
    return client.V1Volume(
        name="token",
        projected=client.V1ProjectedVolumeSource(
            sources=[
                client.V1VolumeProjection(
                    service_account_token=client.V1ServiceAccountTokenProjection(
                        path="token", expiration_seconds=TOKEN_SECONDS
                    )
                ),
                client.V1VolumeProjection(
                    config_map=client.V1ConfigMapProjection(
                        name="kube-root-ca.crt", items=[client.V1KeyToPath(key="ca.crt", path="ca.crt")]
                    )
                ),
                client.V1VolumeProjection(
                    downward_api=client.V1DownwardAPIProjection(
                        items=[
                            client.V1DownwardAPIVolumeFile(
                                path="namespace", field_ref=part.field_path("metadata.namespace")
                            )
                        ]
                    )
                ),
            ]
        ),
    )
