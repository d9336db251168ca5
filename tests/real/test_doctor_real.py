"""The doctor finds nothing wrong with the adapters of the real programs."""

from __future__ import annotations

import pytest

from conformance import cli
from conformance.drivers.pi import versions


@pytest.mark.parametrize("spec", [*(f"pi@{version}" for version in versions()), "dsh"])
def test_nothing_is_wrong_with_it(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = cli.main(["doctor", f"--bridge={spec}", "--timeout=20"])

    out = capsys.readouterr().out
    findings = {line[2:10].strip() for line in out.splitlines() if line[:2] == "  " and line[2] != " "}
    assert (status, findings) == (0, {"ok"}), out
