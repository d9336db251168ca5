"""Writes the word for one implementation as the JSON that badge services read (shields.io calls it an endpoint)."""

from __future__ import annotations

import json

from conformance.reporting._spoken import clean, fitted
from conformance.reporting.merge import Column
from conformance.verdicts import Verdict

COLOURS = {
    "conformant": "brightgreen",
    "not conformant": "red",
    "unproven": "orange",
    "no statement": "lightgrey",
}


def badge(column: Column) -> str:
    """The badge of one implementation. Departures, deviations and unproven musts are numbers on it, never left out."""
    word = column.standing
    plain = word.partition(" with ")[0]
    colour = COLOURS[plain] if plain == word else "green" if "deviation" not in word else "yellowgreen"
    wrong = column.number(Verdict.FAIL, Verdict.ABSENT, Verdict.STALE)
    extras = [
        f"{count} {name}"
        for count, name in (
            (wrong, "wrong"),
            (len(column.unproven), "unproven must" if len(column.unproven) == 1 else "unproven musts"),
        )
        if count
    ]
    made = {
        "schemaVersion": 1,
        "label": fitted(clean(f"Pi bridge {column.bridge.label}"), 60),
        "message": f"{word} ({', '.join(extras)})" if extras else word,
        "color": colour,
    }
    return json.dumps(made, ensure_ascii=False) + "\n"
