"""The sandbox Pod and its Sandbox object. The Pod runs what the model wrote: it gets no token and no secret."""

from __future__ import annotations

from typing import Any

from kubernetes import client

from skerry_api.agentrun import AgentRun
from skerry_api.base import ObjectMeta
from skerry_api.common import LocalRef, Resources
from skerry_api.labels import Annotation, Component, Label
from skerry_api.names import hash_label
from skerry_api.sandbox import Sandbox, SandboxSpec
from skerry_api.sandboxclass import Egress, SandboxClass
from skerry_operator.build import podparts as part
from skerry_operator.build.faults import InvalidSpecError
from skerry_operator.build.meta import component_labels, content_hash, owner, wire
from skerry_operator.build.security import container_security, pod_security
from skerry_operator.plan import resolve
from skerry_operator.settings import PlanSettings

__all__ = ["SANDBOXD_PORT", "build_sandbox", "build_sandbox_pod", "endpoint"]

SANDBOXD_PORT = 8090
RESOURCES = Resources(
    requests={"cpu": "100m", "memory": "128Mi"},
    limits={"cpu": "1", "memory": "1Gi", "ephemeral-storage": "2Gi"},
)
RESERVED = "SKERRY_"


def endpoint(pod_ip: str) -> str:
    """URL of sandboxd in the Pod with this address."""
    host = f"[{pod_ip}]" if ":" in pod_ip else pod_ip
    return f"http://{host}:{SANDBOXD_PORT}"


def build_sandbox(run: AgentRun, class_name: str) -> dict[str, Any]:
    """The Sandbox of the run's thread; of a run that is its own thread it is owned by the run."""
    sandbox = Sandbox(
        metadata=ObjectMeta(name=resolve.sandbox_name(run), namespace=run.metadata.namespace),
        spec=SandboxSpec(
            class_ref=LocalRef(name=class_name),
            user_id=run.spec.user_id,
            thread_id=resolve.thread_id(run),
        ),
    ).wire()
    meta: dict[str, Any] = {
        "name": resolve.sandbox_name(run),
        "namespace": run.metadata.namespace,
        "labels": component_labels(Component.SANDBOX) | {Label.OPERATOR_MADE.value: "true"},
    }
    if resolve.own_thread(run):
        meta["ownerReferences"] = [wire(owner(run))]
    return {
        "apiVersion": sandbox["apiVersion"],
        "kind": sandbox["kind"],
        "metadata": meta,
        "spec": sandbox["spec"],
    }


def build_sandbox_pod(sandbox: Sandbox, of: SandboxClass, settings: PlanSettings) -> dict[str, Any]:
    """The Pod of the same name as the Sandbox, as JSON; raises InvalidSpecError for a class that can't be."""
    template = of.spec.template
    return wire(
        client.V1Pod(
            api_version="v1",
            kind="Pod",
            metadata=client.V1ObjectMeta(
                name=sandbox.metadata.name,
                namespace=sandbox.metadata.namespace,
                labels=component_labels(Component.SANDBOX)
                | {
                    Label.SANDBOX.value: sandbox.metadata.name,
                    Label.CLASS.value: hash_label(of.metadata.name),
                },
                annotations={Annotation.TEMPLATE_HASH.value: content_hash(of.spec.wire())},
                owner_references=[owner(sandbox)],
            ),
            spec=client.V1PodSpec(
                containers=[_container(of, settings)],
                restart_policy="Never",
                automount_service_account_token=False,
                enable_service_links=False,
                host_users=False if template.user_namespace else None,
                runtime_class_name=template.runtime_class_name,
                node_selector=dict(template.node_selector) or None,
                tolerations=[client.V1Toleration.model_validate(each.wire()) for each in template.tolerations]
                or None,
                security_context=pod_security(),
                termination_grace_period_seconds=5,
                volumes=[
                    part.empty_dir("user-data", of.spec.workspace_size),
                    part.empty_dir("skills", "64Mi"),
                    part.empty_dir("tmp", "512Mi"),
                    part.empty_dir("run", "16Mi"),
                ],
                **_dns(of.spec.network.egress, settings),
            ),
        )
    )


def _dns(egress: Egress, settings: PlanSettings) -> dict[str, Any]:
    if egress is Egress.DNS:
        return {"dns_policy": "ClusterFirst"}
    # Without a way to any resolver a name must fail at once: nobody listens here, so nothing times out.
    servers = list(settings.public_resolvers[:3]) if egress is Egress.INTERNET else []
    return {
        "dns_policy": "None",
        "dns_config": client.V1PodDNSConfig(nameservers=servers or ["127.0.0.1"]),
    }


def _container(of: SandboxClass, settings: PlanSettings) -> client.V1Container:
    template = of.spec.template
    for index, each in enumerate(template.env):
        if each.name.startswith(RESERVED):
            raise InvalidSpecError(
                f"SandboxClass {of.metadata.name}: spec.template.env[{index}].name",
                f"names that start with {RESERVED} are reserved",
            )
    return client.V1Container(
        name=Component.SANDBOX.value,
        image=template.image or settings.sandbox_image,
        image_pull_policy=template.image_pull_policy or settings.image_pull_policy,
        env=[
            *(part.literal_env(each.name, each.value) for each in template.env),
            part.field_env("SKERRY_POD_UID", "metadata.uid"),
            part.field_env("SKERRY_SANDBOX_ID", f"metadata.labels['{Label.SANDBOX}']"),
            part.field_env("SKERRY_NAMESPACE", "metadata.namespace"),
            part.literal_env("SKERRY_OPERATOR_KEYS", settings.operator_keys),
        ],
        ports=[client.V1ContainerPort(name="sandboxd", container_port=SANDBOXD_PORT, protocol="TCP")],
        readiness_probe=client.V1Probe(
            http_get=client.V1HTTPGetAction(path="/health", port=SANDBOXD_PORT),
            period_seconds=1,
            timeout_seconds=2,
            failure_threshold=3,
        ),
        resources=part.resources(template.resources, RESOURCES),
        security_context=container_security(),
        volume_mounts=[
            part.mount("user-data", "/mnt/user-data"),
            # sandboxd keeps it read-only for all but the runner's own skills.
            part.mount("skills", "/mnt/skills"),
            part.mount("tmp", "/tmp"),  # noqa: S108 - the container's own
            part.mount("run", "/run/skerry"),
        ],
    )
