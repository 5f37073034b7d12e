"""Bringing an instance up, or back up: every step looks first and makes what is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from skerry_devcluster.addons import addons
from skerry_devcluster.cgroups import make_cgroup
from skerry_devcluster.cluster import Claim, Mode
from skerry_devcluster.commands import run
from skerry_devcluster.errors import CommandError, StartError
from skerry_devcluster.health import accepts, answers, coredns_available, default_account_exists, node_ready
from skerry_devcluster.host import boot_id, started_at
from skerry_devcluster.images import import_own_images
from skerry_devcluster.instances import claim_instance
from skerry_devcluster.kubeapi import ApiError
from skerry_devcluster.layout import InstancePaths, Layout
from skerry_devcluster.namespaces import pin_mount_namespace, within
from skerry_devcluster.network import set_up_network
from skerry_devcluster.pki import ensure_pki, kubeconfig
from skerry_devcluster.progress import Progress
from skerry_devcluster.session import Session, instance_lock, prepare, session_of
from skerry_devcluster.waiting import wait_until

__all__ = ["bring_up", "is_healthy", "names_resolve", "readiness", "up", "wait_ready"]

_USERS = ("kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet")
# Generous: a machine with two cores may be running a build and another cluster.
_PATIENCE = 120.0


def up(layout: Layout, paths: InstancePaths, mode: Mode, progress: Progress) -> Claim:
    """Have the instance up and healthy.

    Raises:
        DevClusterError: of any kind, with what to look at.
    """
    # before the lock: a first build takes minutes, and `down` should not wait for it
    programs = prepare(mode, layout, progress)
    with instance_lock(paths, progress):
        claim = claim_instance(layout, paths, mode, boot_id(), lambda _who: None)
        session = session_of(claim, paths, programs)
        if is_healthy(session):
            progress.say(f"{paths.name}: is up")
        else:
            bring_up(session, progress)
            progress.say(f"{paths.name}: up; KUBECONFIG={paths.kubeconfig}")
    return claim


def is_healthy(session: Session) -> bool:
    """Every process as it should be, and the cluster answers."""
    if not session.all_current() or not session.paths.kubeconfig.exists():
        return False
    if not all(condition() for condition in readiness(session).values()):
        return False
    return session.cluster.mode is Mode.CONTROL_PLANE or names_resolve(session)


def names_resolve(session: Session) -> bool:
    """CoreDNS is rolled out and answers. Its objects alone prove nothing: they are kept over `down`."""
    if not coredns_available(session.api()):
        return False
    server = str(session.cluster.slot.dns_service)
    environment = {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    try:
        run(
            [*within(session.paths, mounts=False), sys.executable, "-m", "skerry_devcluster.dns", server],
            env=environment,
        )
    except CommandError:
        return False
    return True


def bring_up(session: Session, progress: Progress) -> None:
    """Make what is missing and wait until it is ready."""
    paths, full = session.paths, session.cluster.mode is Mode.FULL
    fresh = not any(session.supervisor.running(name) for name in session.components)
    with progress.step("certificates", whole=not paths.pki.exists()):
        ensure_pki(paths.pki, session.cluster.slot)
        _write_files(session)
    set_up_network(paths, session.cluster.slot, session.ledger)
    with ThreadPoolExecutor(1) as beside:
        if full:
            pin_mount_namespace(paths, session.ledger)
            make_cgroup(paths.cgroup, session.cluster.cgroup_version, session.ledger)
            session.start("containerd", "docker-registry")
        with progress.step("API server", whole=fresh):
            session.start("etcd", "kube-apiserver")
            images = beside.submit(_load_own_images, session) if full else None
            wait_ready(session, "kube-apiserver")
        if images:
            with progress.step("node", whole=fresh):
                _bring_node_up(session, images)
            with progress.step("CoreDNS", whole=fresh):
                _wait(session, lambda: names_resolve(session), "CoreDNS to answer", "kubelet")


def _load_own_images(session: Session) -> None:
    wait_ready(session, "containerd")
    import_own_images(session.cluster)


def _bring_node_up(session: Session, images: Future[None]) -> None:
    session.start("kube-controller-manager", "kube-scheduler", "kube-proxy")
    _apply_addons(session)
    images.result()  # the kubelet's first Pod needs the pause image
    session.start("kubelet", "kube-network-policies", "local-provisioner")
    for name in session.components:
        wait_ready(session, name)


def readiness(session: Session) -> dict[str, Callable[[], bool]]:
    """For each component of the mode, whether it does what others need it for."""
    api, node = session.api(), str(session.cluster.slot.node_address)

    def process(name: str) -> Callable[[], bool]:
        return lambda: session.supervisor.running(name) is not None

    def kubelet() -> bool:
        running = session.supervisor.running("kubelet")
        if running is None or not answers(f"{node}:10248", "/healthz"):
            return False
        return node_ready(api, started_at(running))

    conditions: dict[str, Callable[[], bool]] = {
        "kube-apiserver": api.ready,
        "containerd": lambda: accepts(session.paths.containerd_socket),
        "docker-registry": lambda: answers(session.cluster.registry, "/v2/"),
        "kubelet": kubelet,
        "kube-proxy": lambda: answers(f"{node}:10256", "/healthz"),
        "kube-scheduler": lambda: answers(f"{node}:10259", "/healthz", tls=True),
        "kube-controller-manager": lambda: (
            answers(f"{node}:10257", "/healthz", tls=True) and default_account_exists(api)
        ),
    }
    return {name: conditions.get(name, process(name)) for name in session.components}


def wait_ready(session: Session, name: str) -> None:
    """Wait until a component is ready.

    Raises:
        StartError: it ended, or took too long.
    """
    _wait(session, readiness(session)[name], f"{name} to be ready", name)


def _wait(session: Session, condition: Callable[[], bool], what: str, component: str) -> None:
    try:
        wait_until(
            condition, what, seconds=_PATIENCE, check=lambda: session.supervisor.alive_or_raise(component)
        )
    except StartError as error:
        raise StartError(f"{error}\nlogs are in {session.paths.log}") from error


def _apply_addons(session: Session) -> None:
    api = session.api()
    for path, document in addons(session.cluster):
        for attempt in range(5):
            try:
                api.apply(path, document)
                break
            except ApiError as error:
                # conflicts of a start: two writers, a range allocator that is not synced yet
                if attempt == 4 or error.status in {400, 403, 422}:
                    raise


def _write_files(session: Session) -> None:
    """Configuration and kubeconfigs, rewritten only if they differ."""
    paths, cluster = session.paths, session.cluster
    texts = {paths.conf / name: text for name, text in session.texts.items()}
    texts[paths.kubeconfig] = kubeconfig(paths.pki, "admin", paths.name, cluster.api_server)
    if cluster.mode is Mode.FULL:
        for user in _USERS:
            texts[paths.component_kubeconfig(user)] = kubeconfig(
                paths.pki, user, paths.name, cluster.api_server
            )
        for directory in ("pod-logs", "volume-plugins"):
            (paths.state / directory).mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.name}.part")
            temporary.write_text(text)
            temporary.chmod(0o600)
            temporary.replace(path)
