"""What is generated from the rules is that of the rules as they are, and no rule changed without its proof."""

from __future__ import annotations

from conformance.catalogue import compile_features, load_catalogue
from conformance.commands.spec import outdated


def test_the_generated_files_of_the_spec_are_fresh() -> None:
    assert [str(problem) for problem in outdated(load_catalogue(), compile_features())] == []
