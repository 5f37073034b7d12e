"""A profile's pipeline with every field set, and none at its default where another value is allowed."""

from __future__ import annotations

from typing import Any

__all__ = ["PIPELINE"]

SIZE = {"messages": 9, "tokens": 900, "fraction": "0.5"}
PIPELINE: dict[str, Any] = {
    "toolOutputBudget": {
        "enabled": False, "externalizeMinChars": 900, "previewHeadChars": 90, "previewTailChars": 9,
        "fallbackMaxChars": 901, "fallbackHeadChars": 91, "fallbackTailChars": 10, "storageSubdir": "long",
        "exemptTools": ["bash"], "tools": [{"name": "ls", "externalizeMinChars": 100}],
    },
    "uploads": {"shown": 3, "outlineLines": 4, "outlineLineChars": 40},
    "danglingToolCall": {"maxErrorChars": 100},
    "llmErrorHandling": {
        "maxAttempts": 2, "baseDelayMilliseconds": 10, "maxDelayMilliseconds": 20, "maxRetryAfterSeconds": 30,
        "burstMaxAttempts": 4, "burstBaseDelayMilliseconds": 50, "stalledMaxAttempts": 1,
        "circuit": {"failures": 1, "openSeconds": 2},
    },
    "sandboxAudit": {"maxCommandChars": 5000, "ignoredRules": ["install"]},
    "dynamicContext": {"memory": False, "memoryMaxTokens": 100, "memoryTimeoutSeconds": 1},
    "skillActivation": {"allowed": ["pdf"], "catalogue": False, "maxChars": 2000},
    "summarization": {
        "enabled": True, "trigger": [SIZE], "keep": {"messages": 1, "tokens": 1, "fraction": "0.1"}, "contextTokens": 2000, "maxInputTokens": 1000,
        "maxSummaryChars": 600, "timeoutSeconds": 9, "preserveRecentSkillCount": 1,
        "preserveRecentSkillTokens": 100, "preserveRecentSkillTokensPerSkill": 50, "skillReadTools": ["cat"],
    },
    "todoList": {"enabled": True},
    "tokenUsage": {"enabled": False},
    "title": {"model": "openai:y", "maxWords": 3, "maxChars": 30, "timeoutSeconds": 5},
    "memory": {
        "enabled": True, "flush": "AtEnd", "flushTimeoutSeconds": 9, "debounceSeconds": 8, "agent": "coder",
        "maxFacts": 7, "minConfidence": "0.5", "maxFactChars": 60, "maxInputTokens": 500,
    },
    "viewImage": {"enabled": False, "maxImageBytes": 1000, "maxRequestBytes": 2000},
    "deferredToolFilter": {"maxResults": 2, "maxNames": 3},
    "subagentLimit": {"maxConcurrent": 2, "maxTotal": 9},
    "loopDetection": {
        "enabled": False, "warn": 2, "hard": 4, "window": 9, "toolWarn": 6, "toolHard": 8,
        "tools": [{"name": "bash", "warn": 60, "hard": 99}],
    },
    "custom": [{"path": "team.rows:Polite", "settings": {"word": "please"}}],
    "clarification": {"enabled": False},
    "safetyFinishReason": {
        "enabled": False, "adapters": [{"name": "mine", "fields": ["stop"], "values": ["unsafe"]}],
    },
}  # fmt: skip
