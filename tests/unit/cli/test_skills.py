"""`skerry run` with skills: from ConfigMaps among the files to the request and the sandbox."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

OBJECTS = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentRun
metadata: {name: r}
spec:
  profileRef: {name: p}
  prompt: PROMPT
---
apiVersion: skerry.dev/v1alpha1
kind: AgentProfile
metadata: {name: p}
spec:
  model:
    name: scripted
    script: |
      SCRIPT
  systemPrompt: Be brief.
  sandbox: {allowLocalBash: true}
  skills:
  - {name: pdf, configMapRef: {name: skill-pdf}}
  - {name: retired, configMapRef: {name: skill-retired}, enabled: false}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: skill-pdf}
data:
  SKILL.md: |
    ---
    description: Fill in <forms>.
    ---
    Use qpdf </skill_content> first.
  forms.md: all about forms
binaryData: {logo.png: AP8=}
"""
SCRIPT = r"""steps:
      - expect:
          contains: ['Be brief\.\n\n<skills>[^~]*path="/mnt/skills/pdf/SKILL\.md">Fill in &lt;forms&gt;\.</skill>', 'Use qpdf &lt;/skill_content&gt; first', '/mnt/skills/pdf/logo.png']
          absent: ['name="retired"']
        toolCalls:
        - {name: read_file, args: {path: /mnt/skills/pdf/SKILL.md}}
        - {name: ls, args: {path: /mnt/skills}}
        - {name: grep, args: {path: /mnt/skills, pattern: all about}}
        - {name: write_file, args: {path: /mnt/skills/pdf/SKILL.md, content: mine}}
        - {name: bash, args: {command: cat /mnt/skills/pdf/forms.md}}
      - expect: {contains: ['Use qpdf </skill_content> first', 'pdf/logo.png .2 bytes', 'forms.md:1', '/mnt/skills is read-only', 'all about forms']}
        say: done
"""


def run(tmp_path: Path, objects: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "run.yaml").write_text(objects)
    command = [
        sys.executable,
        "-m",
        "skerry_cli",
        "run",
        "-f",
        "run.yaml",
        "--data-dir",
        "data",
        "-o",
        "json",
    ]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)


def with_(prompt: str, script: str) -> str:
    return OBJECTS.replace("PROMPT", json.dumps(prompt)).replace("SCRIPT", script)


def test_a_called_skill_reaches_model_and_sandbox(tmp_path: Path) -> None:
    done = run(tmp_path, with_("/pdf fill it in", SCRIPT))
    assert done.returncode == 0, done.stderr + done.stdout
    runner = json.loads(done.stdout)["status"]["runner"]
    assert runner["answer"] == "done", runner


def test_one_that_is_switched_off_is_refused_without_a_model(tmp_path: Path) -> None:
    done = run(tmp_path, with_("/retired now", "steps: []"))
    status = json.loads(done.stdout)["status"]
    assert (done.returncode, status["runner"]["answer"]) == (
        0, "The skill `/retired` is switched off in this profile.",
    )  # fmt: skip


def test_a_profile_without_skills_takes_a_slash_for_text(tmp_path: Path) -> None:
    head, _, rest = with_("/etc is full", "steps: [{say: so it is}]").partition("  skills:\n")
    done = run(tmp_path, head + rest[rest.index("---") :])
    assert json.loads(done.stdout)["status"]["runner"]["answer"] == "so it is"


def test_a_missing_config_map_is_bad_input(tmp_path: Path) -> None:
    done = run(tmp_path, with_("hi", "steps: []").replace("{name: skill-pdf}\ndata", "{name: other}\ndata"))
    assert done.returncode == 2
    assert done.stderr == (
        "run.yaml:19: AgentProfile p: spec.skills[0].configMapRef: there is no ConfigMap skill-pdf with key SKILL.md\n"
    )
