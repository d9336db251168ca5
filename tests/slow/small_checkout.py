"""A private copy of the suite with a handful of rules of its own, to be broken in one place and run as users run it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.small_rules import INDEX, TOOL_CALL, TOOL_CALL_FEATURE, USER_BASH, USER_BASH_FEATURE

ROOT = Path(__file__).resolve().parents[2]
TINY = "py:tests.fakes.tiny_bridge:TinyBridge"
DEAF = "py:tests.fakes.tiny_bridge:DeafBridge"
BARE = "py:tests.fakes.tiny_bridge:BareBridge"
BOASTING = "py:tests.fakes.tiny_bridge:BoastingBridge"
SHY = "py:tests.fakes.tiny_bridge:ShyBridge"
CLUMSY = "py:tests.fakes.tiny_bridge:ClumsyBridge"
NOBODY = "py:tests.fakes.tiny_bridge:no_bridge"

TESTS = 7
"""How many tests a bridge of the role ``bridge`` gets."""


@dataclass(frozen=True)
class Ran:
    """How a command ended, and all it printed."""

    status: int
    out: str
    folder: Path

    @property
    def report(self) -> Any:
        """The report it wrote."""
        return json.loads((self.folder / "reports" / "conformance.json").read_text(encoding="utf-8"))

    def verdicts(self, label: str) -> dict[str, str]:
        """Rule ids and verdicts on one bridge."""
        bridge = next(bridge for bridge in self.report["bridges"] if bridge["label"] == label)
        return {rule["id"]: rule["verdict"] for rule in bridge["rules"]}


class SmallCheckout:
    """The folder; ``run`` calls pytest in it, ``command`` the program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        ignored = shutil.ignore_patterns("__pycache__", "node_modules")
        shutil.copytree(ROOT / "conformance", folder / "conformance", ignore=ignored)
        shutil.copytree(ROOT / "reference_bridge", folder / "reference_bridge", ignore=ignored)
        shutil.copytree(ROOT / "tests" / "fakes", folder / "tests" / "fakes", ignore=ignored)
        shutil.copytree(ROOT / "spec" / "schema", folder / "spec" / "schema")
        for name in ("pyproject.toml", "bridge_conformance_pytest.py", "conftest.py"):
            shutil.copy(ROOT / name, folder / name)
        self.write("spec/index.yaml", INDEX)
        self.write("spec/tools/tool_call.yaml", TOOL_CALL)
        self.write("spec/tools/user_bash.yaml", USER_BASH)
        self.write("features/tools/tool_call.feature", TOOL_CALL_FEATURE)
        self.write("features/tools/user_bash.feature", USER_BASH_FEATURE)
        # The invariants and the random programs speak of rules of the real spec.
        self.append("conformance/invariants/__init__.py", "\nINVARIANTS.clear()\n")
        self.append("conformance/properties.py", "\nPROPERTIES = MappingProxyType({})\n")

    def write(self, name: str, text: str) -> Path:
        """Write a file, and return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def append(self, name: str, text: str) -> None:
        """Add to a file."""
        self.write(name, (self.folder / name).read_text(encoding="utf-8") + text)

    def replace(self, name: str, old: str, new: str) -> None:
        """Change a file in one place."""
        text = (self.folder / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def run(self, *arguments: str, cwd: Path | None = None) -> Ran:
        """Call pytest in the folder."""
        return self.python("-m", "pytest", "-p", "bridge_conformance_pytest", *arguments, cwd=cwd)

    def command(self, *arguments: str, cwd: Path | None = None) -> Ran:
        """Call ``bridge-conformance``."""
        return self.python("-m", "conformance.cli", *arguments, cwd=cwd)

    def python(self, *arguments: str, cwd: Path | None = None, seconds: float = 120) -> Ran:
        """Call Python with this copy of the suite before any installed one."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV", "CI"))}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd or self.folder,
            env={**kept, "PYTHONPATH": str(self.folder), "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        return Ran(done.returncode, done.stdout + done.stderr, cwd or self.folder)
