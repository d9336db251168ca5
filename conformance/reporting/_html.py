"""What the page is made with: templates that escape, style, signs of verdicts, and texts without controls."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from conformance.reporting._spoken import clean
from conformance.reporting.sequence_svg import DARK, LIGHT, SCOPE, STYLE
from conformance.verdicts import Verdict

FOLDER = Path(__file__).with_name("templates")
BLOCK = 4000
"""Characters of one shown value."""

GLYPHS: dict[Verdict, str] = {
    Verdict.FAIL: "✗",
    Verdict.ABSENT: "∅",
    Verdict.STALE: "!",
    Verdict.HARNESS_ERROR: "⚠",
    Verdict.INCONCLUSIVE: "?",
    Verdict.UNSUPPORTED: "○",
    Verdict.NOT_RUN: "…",
    Verdict.DEVIATION: "≈",
    Verdict.DEPARTS: "△",
    Verdict.UNDECLARED: "+",
    Verdict.NOTED: "i",
    Verdict.PASS: "✓",
    Verdict.NOT_APPLICABLE: "–",
}


def style() -> str:
    """The style of the matrix page, with that of the pictures in it."""
    light, dark = ("".join(f"--seq-{name}:{value};" for name, value in colours.items()) for colours in (LIGHT, DARK))
    themes = f":root[data-theme=light] .{SCOPE}{{{light}}}:root[data-theme=dark] .{SCOPE}{{{dark}}}"
    # What stands behind the stroke is what a screen reader says of the sign: nothing, for the word follows.
    signs = "".join(f'.c.{slug(verdict)}::before{{content:"{glyph}" / ""}}' for verdict, glyph in GLYPHS.items())
    stated = '.c.differs::before{content:"≠" / ""}'
    return (FOLDER / "matrix.css").read_text(encoding="utf-8") + signs + stated + STYLE + themes


def digest(script: str) -> str:
    """The digest by which the page's policy knows its own script, and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def as_json(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def slug(verdict: Verdict) -> str:
    """A verdict as the name of a class."""
    return verdict.replace(" ", "-")


def anchor(rule_id: str) -> str:
    """A rule's id as a part of an address."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", rule_id)


def one_line(text: str, most: int = 400) -> str:
    """One line without controls and changes of direction, of at most ``most`` characters."""
    whole = str(text)
    if len(whole) <= most and whole.isprintable():
        return whole  # Nearly every text; the long way is slow.
    parts = [clean(whole[at : at + 400]) for at in range(0, min(len(whole), most), 400)]
    return "".join(parts) + ("…" if len(whole) > most else "")


def block(text: str) -> str:
    """Lines of text without other controls, its middle left out where it is long."""
    if len(text) > BLOCK:
        text = f"{text[: BLOCK * 3 // 4]}\n … {len(text) - BLOCK} characters left out …\n{text[-BLOCK // 4 :]}"
    return "\n".join(one_line(line, BLOCK) for line in text.split("\n"))


@cache
def environment() -> Environment:
    """Templates, in which every value is escaped."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"clean": one_line, "block": block, "slug": slug, "glyph": GLYPHS.__getitem__}
    return made
