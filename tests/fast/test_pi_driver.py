"""What a specification of Pi may say."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from conformance.drivers.driver import HarnessError
from conformance.drivers.pi import make_driver, versions


@dataclass(frozen=True)
class Spec:
    version: str | None = None
    mount: str | None = None
    label: str = "pi"


def test_the_version_that_decides_comes_first() -> None:
    assert versions() == ["0.84.1", "0.73.1", "1.6.0"]


def test_a_version_that_is_not_pinned_is_refused_with_those_that_are() -> None:
    with pytest.raises(HarnessError, match=r"pi@9\.9\.9") as caught:
        make_driver(Spec(version="9.9.9"))
    assert all(version in caught.value.mend for version in versions())


def test_a_version_is_no_path() -> None:
    with pytest.raises(HarnessError, match="not pinned"):
        make_driver(Spec(version="../versions/1.6.0"))


def test_pi_has_no_mounts() -> None:
    with pytest.raises(HarnessError, match="no mount 'engine'"):
        make_driver(Spec(mount="engine"))
