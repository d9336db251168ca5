"""The pins of the programs the suite runs: exact, checkable, and free of where they were made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SUITE = Path(__file__).resolve().parents[2] / "conformance"
ADAPTERS = SUITE / "adapters"
LOCKS = sorted(path for path in SUITE.glob("**/package-lock.json") if "node_modules" not in path.parts)


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def test_there_are_locks() -> None:
    assert ADAPTERS / "pi" / "package-lock.json" in LOCKS
    assert SUITE / "reporting" / "allure3" / "package-lock.json" in LOCKS


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: str(path.parent.relative_to(SUITE)))
class TestLock:
    def test_every_package_has_a_checksum_and_no_address(self, lock: Path) -> None:
        packages = {name: row for name, row in read(lock)["packages"].items() if name}
        assert packages
        assert [name for name, row in packages.items() if "integrity" not in row] == []
        assert [name for name, row in packages.items() if "resolved" in row or "funding" in row] == []

    def test_every_wish_is_one_version(self, lock: Path) -> None:
        wishes = read(lock.with_name("package.json"))
        packages = read(lock)["packages"]
        exact = {**wishes["dependencies"], **wishes.get("overrides", {})}
        locked = {name: packages[f"node_modules/{name}"]["version"] for name in exact}
        assert locked == exact

    def test_every_package_of_the_same_owner_is_wished_for(self, lock: Path) -> None:
        wishes = read(lock.with_name("package.json"))
        exact = {**wishes["dependencies"], **wishes.get("overrides", {})}
        scopes = {name.partition("/")[0] + "/pi-" for name in exact if "/pi-" in name}
        names = {name.rpartition("node_modules/")[2] for name in read(lock)["packages"]}
        own = {name for name in names if any(name.startswith(scope) for scope in scopes)}
        assert own <= set(exact)
