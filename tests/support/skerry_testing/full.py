"""An object of each kind with every field of its schema set; a unit test sees to it that none is missing."""

from __future__ import annotations

from typing import Any

from skerry_testing.fullpipeline import PIPELINE

__all__ = ["FULL", "OPERATOR_STATUS", "RUNNER_STATUS"]

Json = dict[str, Any]
NOW = "2030-01-31T12:00:00Z"
UID = "0f0e0d0c-0b0a-0908-0706-050403020100"
FROM = {"configMapKeyRef": {"name": "texts", "key": "one"}}
CONDITIONS = [
    {
        "type": "Ready", "status": "True", "reason": "Running", "message": "The runner runs.",
        "lastTransitionTime": NOW, "observedGeneration": 3,
    }
]  # fmt: skip
RESOURCES = {"requests": {"cpu": "100m"}, "limits": {"cpu": "1", "memory": "1Gi"}}

OPERATOR_STATUS: Json = {
    "observedGeneration": 3, "phase": "Running", "stopReason": "EndTurn",
    "failure": {"class": "PodLost", "message": "gone"}, "conditions": CONDITIONS,
    "queue": {"position": 1, "reason": "ThreadBusy"}, "epoch": 2, "attempts": 2, "podName": "full-2",
    "podUID": UID, "threadId": "chat-7", "profile": {"uid": UID, "generation": 4}, "startTime": NOW,
    "epochTime": NOW, "runningTime": NOW, "pausedSince": NOW, "pausedSeconds": 5, "completionTime": NOW, "deadline": NOW, "cancelled": False,
    "sandbox": {
        "name": "sbx-1", "state": "Ready", "className": "default", "podUID": UID, "replacements": 1,
        "endpoint": "http://192.0.2.1:8090", "grant": "a.b.c",
    },
}  # fmt: skip
RUNNER_STATUS: Json = {
    "sandboxId": "sbx-1",
    "runner": {
        "epoch": 2, "podUID": UID, "node": "n1", "sandboxRequest": {"epoch": 2, "publicKey": "k"},
        "progress": {
            "turn": 1, "modelCalls": 2, "toolCalls": 3, "title": "A look", "todos": [{"content": "look", "status": "InProgress"}],
        },
        "usage": {"input": 1, "output": 2, "total": 3, "subagents": 1, "internal": 1, "costMicroUSD": 5},
        "question": {
            "id": "q-1", "type": "ApproachChoice", "text": "Which?", "textRef": {"size": 6, "event": "question", "id": "q-1"}, "context": "Two ways.", "options": ["a", "b"],
        },
        "answer": "42", "answerRef": {"size": 2, "event": "model.response", "id": "m-1"}, "stopReason": "EndTurn",
        "journalFault": "journal.jsonl can't be written: No space left on device",
        "artifacts": [{"path": "/x", "size": 1, "mediaType": "text/plain", "sha256": "0" * 64, "available": True}],
        "outcome": {"class": "ModelError", "reason": "Refused", "endpoint": "https://x", "message": "no"},
    },
}  # fmt: skip

MCP_SERVER: Json = {
    "name": "wiki", "transport": "Stdio", "description": "The wiki.", "url": "https://x/mcp",
    "headersSecretRef": {"name": "s", "key": "k"}, "command": "wiki", "args": ["-v"],
    "env": [{"name": "A", "value": "b"}], "deferred": False, "connectTimeoutSeconds": 5, "callTimeoutSeconds": 6,
}  # fmt: skip
GUARDRAIL: Json = {
    "allow": ["bash", "read_*"], "deny": ["write_file"],
    "rules": [
        {"tool": "read_file", "argument": "path", "glob": "/secrets/**", "regex": "x", "hosts": ["*.example.com", "192.0.2.0/24"], "action": "Allow",
         "reason": "none of your business"}
    ],
    "http": {"url": "http://opa:8181/v1/data/skerry", "timeoutSeconds": 2, "headersSecretRef": {"name": "s", "key": "k"}},
    "path": "team.policy:Policy", "failClosed": False,
}  # fmt: skip
SUBAGENT: Json = {
    "name": "critic", "description": "Finds faults.", "systemPrompt": "Be strict.", "tools": ["read_file"],
    "mcpTools": False, "maxTurns": 5, "maxTokens": 7, "timeoutSeconds": 6,
}  # fmt: skip
_RUN_SPEC: Json = {
    "profileRef": {"name": "p"}, "prompt": "hello", "promptFrom": FROM,
    "files": [{"name": "a.txt", "inline": "a", "configMapKeyRef": FROM["configMapKeyRef"]}], "userId": "ann", "threadId": "chat-7",
    "model": {"name": "openai:x", "parameters": {"seed": "1"}, "script": "steps: []"},
    "sandbox": {"classRef": {"name": "gpu"}, "acquire": "Eager"},
    "limits": {
        "startupDeadlineSeconds": 1, "activeDeadlineSeconds": 2, "maxTurns": 3, "maxTokens": 4, "maxCostMicroUSD": 5,
    },
    "retries": 1, "cancel": True, "answers": [{"questionId": "q-1", "text": "b"}], "ttlSecondsAfterFinished": 60,
}  # fmt: skip
_PROFILE_SPEC: Json = {
    "model": {
        "name": "openai:x", "baseUrl": "https://x/v1", "apiKeySecretRef": {"name": "s", "key": "k"},
        "parameters": {"seed": "1"}, "vision": True,
        "price": {"inputMicroUSDPerMillion": 1, "outputMicroUSDPerMillion": 2}, "script": "steps: []", "scriptRef": FROM,
    },
    "systemPrompt": "be good", "allowedModels": ["openai:y"], "allowedClasses": ["gpu"],
    "sandbox": {"classRef": {"name": "c"}, "acquire": "Eager", "allowLocalBash": True},
    "persistence": {
        "type": "Volume", "postgres": {"dsnSecretRef": {"name": "s", "key": "k"}},
        "volume": {"size": "2Gi", "storageClassName": "fast", "accessMode": "ReadWriteMany", "retentionSeconds": 5,
            "keepRuns": 3},
    },
    "tools": {"enabled": ["bash"]},
    "mcpServers": [MCP_SERVER],
    "guardrail": GUARDRAIL,
    "subagents": {"enabled": True, "types": [SUBAGENT]},
    "skills": [{"name": "pdf", "configMapRef": {"name": "c"}, "enabled": False}],
    "pipeline": PIPELINE,
    "runner": {
        "image": "i", "imagePullPolicy": "Never", "resources": RESOURCES, "network": {"allow": ["192.0.2.0/24"]},
    },
    "privacy": "References", "runnerPodRetentionSeconds": 5,
}  # fmt: skip
_SANDBOX_SPEC: Json = {
    "classRef": {"name": "c"}, "userId": "ann", "threadId": "chat-7", "idleSeconds": 5, "maxLifetimeSeconds": 60,
}  # fmt: skip
_SANDBOX_STATUS: Json = {
    "observedGeneration": 1, "phase": "Ready", "podName": "sbx-1", "podUID": UID,
    "endpoint": "http://192.0.2.1:8090", "holder": {"uid": UID, "name": "full", "since": NOW}, "idleSince": NOW,
    "mountsThreadData": False, "replacements": 1, "conditions": CONDITIONS,
}  # fmt: skip
_CLASS_SPEC: Json = {
    "provider": "Pod", "release": "Destroy", "idleSeconds": 5, "maxLifetimeSeconds": 60, "workspaceSize": "5Mi",
    "network": {"egress": "DNS", "allow": ["192.0.2.0/24"]},
    "template": {
        "image": "i", "imagePullPolicy": "Never", "env": [{"name": "A", "value": "b"}], "resources": RESOURCES,
        "runtimeClassName": "gvisor", "nodeSelector": {"a": "b"}, "userNamespace": False,
        "tolerations": [
            {"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute", "tolerationSeconds": 5}
        ],
    },
}  # fmt: skip


def _object(kind: str, spec: Json, status: Json | None = None) -> Json:
    body = {"apiVersion": "skerry.dev/v1alpha1", "kind": kind, "metadata": {"name": "full"}, "spec": spec}
    return {**body, "status": status} if status else body


FULL: dict[str, Json] = {
    "AgentRun": _object("AgentRun", _RUN_SPEC, {**OPERATOR_STATUS, **RUNNER_STATUS}),
    "AgentProfile": _object("AgentProfile", _PROFILE_SPEC),
    "Sandbox": _object("Sandbox", _SANDBOX_SPEC, _SANDBOX_STATUS),
    "SandboxClass": _object("SandboxClass", _CLASS_SPEC),
}
"""By kind. Fields that exclude each other are all set here: take one away before sending it."""
