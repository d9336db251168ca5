"""What a checkup says: one finding a check, and the word for the whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from conformance.drivers.driver import HarnessError

State = Literal["ok", "warning", "trouble", "left out"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    ``trouble`` makes an implementation unusable, a ``warning`` does not; both have a ``mend``, one line on what to do.
    ``left out``: the check does not apply, or what it needs is not there.
    """

    check: str
    state: State
    text: str
    mend: str = ""


def ok(check: str, text: str) -> Finding:
    """All is well."""
    return Finding(check, "ok", text)


def warning(check: str, text: str, mend: str) -> Finding:
    """Verdicts can be taken, but something should be mended."""
    return Finding(check, "warning", text, mend)


def trouble(check: str, text: str, mend: str) -> Finding:
    """No verdict would mean anything."""
    return Finding(check, "trouble", text, mend)


def left_out(check: str, why: str) -> Finding:
    """The check was not made."""
    return Finding(check, "left out", why)


def broken(check: str, error: HarnessError) -> Finding:
    """The connection broke during a check."""
    return trouble(check, error.cause, error.mend.splitlines()[0] if error.mend else "mend what the text names")


def usable(findings: Iterable[Finding]) -> bool:
    """Whether nothing stands in the way of verdicts."""
    return not any(finding.state == "trouble" for finding in findings)
