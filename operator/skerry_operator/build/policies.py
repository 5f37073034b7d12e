"""NetworkPolicies that the operator applies: egress of a class's sandboxes, and of a profile's runners."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address, ip_network
from typing import Any

from kubernetes import client

from skerry_api.agentprofile import AgentProfile
from skerry_api.base import KubeObject
from skerry_api.labels import MANAGED_BY, Annotation, Component, Label
from skerry_api.names import class_policy_name, hash_label, profile_policy_name
from skerry_api.sandboxclass import Egress, SandboxClass
from skerry_operator.build.faults import InvalidSpecError
from skerry_operator.build.meta import content_hash, owner, wire
from skerry_operator.build.public import public_blocks
from skerry_operator.settings import PlanSettings

__all__ = ["build_class_policy", "build_profile_policy", "policy_hash"]


def build_class_policy(of: SandboxClass, settings: PlanSettings) -> dict[str, Any]:
    """Egress of this class's Pods; ingress, and the denial of all else, are the chart's policies."""
    network = of.spec.network
    rules: list[client.V1NetworkPolicyEgressRule] = []
    match network.egress:
        case Egress.NONE:
            pass
        case Egress.DNS:
            rules.append(_cluster_dns(settings))
        case Egress.INTERNET:
            rules += [*_public(settings), *_resolvers(settings)]
    path = f"SandboxClass {of.metadata.name}: spec.network.allow"
    labels = {Label.CLASS.value: hash_label(of.metadata.name)}
    name = class_policy_name(of.metadata.name)
    return _policy(name, of, Component.SANDBOX, labels, rules + _allow(network.allow, path))


def build_profile_policy(profile: AgentProfile) -> dict[str, Any]:
    """What this profile's runner Pods may reach beyond what the chart's runner policy lets them."""
    path = f"AgentProfile {profile.metadata.name}: spec.runner.network.allow"
    rules = _allow(profile.spec.runner.network.allow, path)
    labels = {Label.PROFILE.value: hash_label(profile.metadata.name)}
    return _policy(profile_policy_name(profile.metadata.name), profile, Component.RUNNER, labels, rules)


def policy_hash(manifest: dict[str, Any]) -> str:
    """The content's hash, as it stands in the manifest's annotation."""
    value: str = manifest["metadata"]["annotations"][Annotation.TEMPLATE_HASH.value]
    return value


def _policy(
    name: str,
    of: KubeObject,
    component: Component,
    labels: dict[str, str],
    rules: list[client.V1NetworkPolicyEgressRule],
) -> dict[str, Any]:
    manifest = wire(
        client.V1NetworkPolicy(
            api_version="networking.k8s.io/v1",
            kind="NetworkPolicy",
            metadata=client.V1ObjectMeta(
                name=name,
                namespace=of.metadata.namespace,
                labels={Label.MANAGED_BY.value: MANAGED_BY} | labels,
                owner_references=[owner(of)],
            ),
            spec=client.V1NetworkPolicySpec(
                pod_selector=client.V1LabelSelector(
                    match_labels={Label.COMPONENT.value: component.value} | labels
                ),
                policy_types=["Egress"],
                egress=rules,
            ),
        )
    )
    manifest["metadata"]["annotations"] = {Annotation.TEMPLATE_HASH.value: content_hash(manifest)}
    return manifest


def _rule(
    peers: list[client.V1NetworkPolicyPeer], ports: Iterable[int] = ()
) -> client.V1NetworkPolicyEgressRule:
    return client.V1NetworkPolicyEgressRule(
        to=peers,
        ports=[
            client.V1NetworkPolicyPort(protocol=protocol, port=port)
            for port in ports
            for protocol in ("UDP", "TCP")
        ]
        or None,
    )


def _block(cidr: str, excluded: list[str] | None = None) -> client.V1NetworkPolicyPeer:
    block = client.V1IPBlock.model_validate({"cidr": cidr, "except": excluded or None})
    return client.V1NetworkPolicyPeer(ip_block=block)


def _public(settings: PlanSettings) -> list[client.V1NetworkPolicyEgressRule]:
    peers = [_block(cidr, excluded) for cidr, excluded in public_blocks(settings.cluster_cidrs)]
    # A rule without peers would allow everything.
    return [_rule(peers)] if peers else []


def _resolvers(settings: PlanSettings) -> list[client.V1NetworkPolicyEgressRule]:
    # Named by whoever runs the cluster, so they count even where they are not public.
    peers = [_block(str(ip_network(ip_address(each)))) for each in settings.public_resolvers]
    return [_rule(peers, (53,))] if peers else []


def _cluster_dns(settings: PlanSettings) -> client.V1NetworkPolicyEgressRule:
    dns = settings.cluster_dns
    peer = client.V1NetworkPolicyPeer(
        namespace_selector=client.V1LabelSelector(
            match_labels={"kubernetes.io/metadata.name": dns.namespace}
        ),
        pod_selector=client.V1LabelSelector(match_labels=dict(dns.pod_labels)),
    )
    return _rule([peer], dns.ports)


def _allow(cidrs: tuple[str, ...], path: str) -> list[client.V1NetworkPolicyEgressRule]:
    peers = []
    for index, cidr in enumerate(cidrs):
        try:
            peers.append(_block(str(ip_network(cidr, strict=False))))
        except ValueError as error:
            raise InvalidSpecError(f"{path}[{index}]", str(error)) from error
    return [_rule(peers)] if peers else []
