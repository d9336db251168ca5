"""Which proofs of a rule a defect meets first: the order decides how long the kill gate takes, and nothing else."""

from __future__ import annotations

from conformance._pytest.likeness import Likeness

PROOFS = {
    "test_exec.a-timeout-kills": "A timeout",
    "test_exec.a-timeout-kills--of-two": "A timeout of two programs",
    "test_exec.a-timeout-kills--asleep": "A program that sleeps through its timeout",
    "test_exec.a-timeout-kills--folder": "A timeout beside a folder",
}


def in_order(defect: str) -> list[str]:
    """The cases of the rule as a defect is tried on them."""
    places = Likeness(PROOFS).places(defect)
    assert sorted(places.values()) == list(range(len(PROOFS)))
    return [proof.partition("--")[2] for proof in sorted(PROOFS, key=places.__getitem__)]


def test_the_rarest_shared_word_counts_most() -> None:
    assert in_order("timeout-lost-beside-a-folder Forgets the timeout where there is a folder.")[0] == "folder"


def test_words_are_one_whatever_their_ending() -> None:
    assert in_order("wakes-sleepers Ends what is sleeping.")[0] == "asleep"


def test_without_a_shared_word_both_ends_come_before_the_middle() -> None:
    assert in_order("anything Goes wrong.") == ["", "folder", "of-two", "asleep"]


def test_a_rule_with_one_proof_has_one_place() -> None:
    assert Likeness({"only": ""}).places("whatever") == {"only": 0}
