"""The reference with one named defect each: what proves that a proof can fail."""

from __future__ import annotations

from conformance.mutants.registry import MUTANTS, Mutant, load_mutants

__all__ = ["MUTANTS", "Mutant", "load_mutants"]
