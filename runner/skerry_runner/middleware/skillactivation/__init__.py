"""SkillActivation: `/NAME …` puts a skill's text into the request."""

from __future__ import annotations

from skerry_runner.middleware.skillactivation.row import SkillActivation

__all__ = ["SkillActivation"]
