"""Names of packages, tools and calls, and lists of them: few, so that things meet."""

from __future__ import annotations

from typing import Any

PACKAGES = ("alphabet", "alpha", "gamma")
"""One name begins with another: what belongs to a package is told by the whole of it. They are in no order."""

OWN = ("stow", "fetch", "weigh")
"""Names of packages' tools. Two packages may take one name."""

ODD = ("gr\u00f6\u00dfe", "cafe\u0301", "constructor", "Stow", "at_length_" + "of_a_name_" * 9)
"""Names of tools that a bridge may find odd."""

IDS = (
    ("1", "2", "3", "4", "5"),
    ("c", "C", "c1", "C1", "c-1"),
    ("1", "01", "1.0", "+1", "10"),
    ("toString", "constructor", "length", "__proto__", "valueOf"),
    ("1", "1", "2", "2", "1"),
    ("", " ", "1 ", " 1", "1"),
)
"""Ids of the calls of a message; of all but the first some are easily taken for others, or for something else."""

ALIKE_GROUPS = (
    ("stow", "Stow"),
    ("stow", "stow_", "stow-"),
    ("caf\u00e9", "cafe\u0301"),
    ("stow", "stow2"),
    ("a_name_of_many_words", "a-name-of-many-words", "aNameOfManyWords"),
)
"""Names of tools that differ in one sign, in the case of a letter, or in how one is written."""

ALIKE_LISTS: tuple[Any, ...] = (
    ["stow", "run_code"],
    ["stow"],
    ["Stow", "look"],
    ["stow*", "look"],
    ["*"],
    ["caf\u00e9", "look"],
    ["stow", "stow_", "look"],
    [" stow", "LOOK"],
    ["", "stow-"],
)
"""Lists of such names; some hold what is no name at all."""

TAKEN: tuple[Any, ...] = ("stow", "stow", "stow", "stow", "fetch", "fetch", "look", "look", " stow", 7, "")
"""Arguments of ``unregisterTool``."""

LISTS: tuple[Any, ...] = (
    [],
    ["stow"],
    ["look"],
    ["stow", "look"],
    ["fetch", "probe", "ghost"],
    ["stow", "stow", "look"],
    ["look", "run_code", "own_probe"],
    [" look"],
    ["stow", "fetch", "look", "probe"],
    ["stow", "fetch", "look", "probe", "run_code", "own_probe"],
    "stow",
    None,
)
"""Arguments of ``setActiveTools``."""

ODD_ID = "call/\u00e9:"

LONG_ID = "call_" + "0123456789" * 9
"""Ids may be long; what is cut off may be what tells them apart."""
