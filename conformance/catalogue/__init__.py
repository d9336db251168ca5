"""The rules as data: load, lint, join, fingerprint, select and explain them."""

from __future__ import annotations

from conformance.catalogue.features import Features, Pickle, compile_features
from conformance.catalogue.join import Proof, all_proofs, check, expected_proofs
from conformance.catalogue.load import load_catalogue
from conformance.catalogue.model import Catalogue, Rule, Surface, VectorRow
from conformance.catalogue.problems import CatalogueError, Problem, UnknownNameError

__all__ = [
    "Catalogue",
    "CatalogueError",
    "Features",
    "Pickle",
    "Problem",
    "Proof",
    "Rule",
    "Surface",
    "UnknownNameError",
    "VectorRow",
    "all_proofs",
    "check",
    "compile_features",
    "expected_proofs",
    "load_catalogue",
]
