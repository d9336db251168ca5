"""What reviewers of a change to the rules are told: each change, what is behind it, and whose verdicts it may move."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from conformance.catalogue.diff import KINDS, Change, Diff, Kind, alike
from conformance.catalogue.released import Version, check_released
from conformance.reporting.markdown import code, escaped, table
from conformance.reporting.merge import WRONG
from conformance.reporting.model import BridgeReport, RuleReport
from conformance.reporting.read import Read
from conformance.verdicts import TABLE, RuleFailed, Verdict, of_error

MARK = "<!-- bridge-conformance spec diff -->"
"""The first line of the text: by it a workflow finds the comment that it must update."""
FORMAT = 1
"""Version of the JSON form."""
SHOWN = 12
"""Tests that are named under one change; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Affected:
    """A verdict of a shipped report which a change touches. ``after`` is a verdict where it is known, else words."""

    report: str
    label: str
    who: str
    rule: str
    level: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Review:
    """The whole. ``broken`` are breaches of the house's rules for rules; ``against`` those of the chosen policy."""

    diff: Diff
    affected: tuple[Affected, ...]
    broken: tuple[str, ...]
    against: tuple[str, ...]


POLICIES = {
    "none": "never fails",
    "released": "fails on a released id that is misused, on a version that did not move, on an editorial mark that "
    "does not hold",
    "additive": "fails also on what removes or weakens a rule",
    "editorial": "fails also on anything that could change a verdict",
}


def review(found: Diff, reports: Iterable[Read], policy: str = "released") -> Review:
    """Put together what is to be said. ``policy`` is one of :data:`POLICIES`."""
    against: list[str] = []
    if policy in ("additive", "editorial"):
        forbidden: tuple[Kind, ...] = ("removed", "re-used", "renamed", "weakened")
        against += [f"{change.id} is {change.kind}" for change in found.of(*forbidden)]
    if policy == "editorial":
        harmless: set[Kind] = {"annotated"}
        against += [
            f"{change.id} is {change.kind}"
            for change in found.changes
            if not set(change.kinds) <= harmless
            and not change.editorial
            and f"{change.id} is {change.kind}" not in against
        ]
    broken = [] if policy == "none" else list(_broken(found))
    return Review(found, tuple(affected(found, reports)), tuple(broken), tuple(against))


def shown(version: Version) -> str:
    """Version and revision as people write them."""
    return f"{version[0]}.{version[1]}"


def _broken(found: Diff) -> Iterator[str]:
    base, head = found.base, found.head
    lost = [name for name in base.released.ids if name not in head.released.ids]
    for name in lost:
        yield f"spec/released.txt lost the line of {name}; no line is ever taken out"
    for problem in check_released(head.catalogue, head.released):
        yield str(problem)
    for name in lost:
        if name not in head.catalogue.by_id:
            yield f"the released rule {name} is gone; write `{name} gone {head.version[0]}` in spec/released.txt"
    for change in found.of("re-used"):
        yield f"{change.id} names another rule than before; give the new rule an id of its own"
    for change in found.changes:
        if any(remark.startswith("It is marked editorial") for remark in change.remarks):
            yield f"{change.id} is marked editorial, and more than words changed"
    if base.released.latest is not None and not found.moved_enough:
        yield f"the rules are at {shown(head.version)}, and must move to {shown(found.wanted)} (spec/index.yaml)"


# --- shipped reports --------------------------------------------------------------------------------------------------


def affected(found: Diff, reports: Iterable[Read]) -> Iterator[Affected]:
    """Every verdict in these reports that the changes touch, and what becomes of it."""
    for report in reports:
        for bridge in report.report.bridges:
            who = f"{bridge.implementation.name} {bridge.implementation.version}"
            known = {rule.id: rule for rule in bridge.rules}
            for change in found.changes:
                told = _told(change, known.get(change.old_id), bridge)
                if told is not None:
                    before, after = told
                    yield Affected(report.name, bridge.label, who, change.id, change.rule.level, before, after)


def _told(change: Change, rule: RuleReport | None, bridge: BridgeReport) -> tuple[str, str] | None:
    if change.before is None:
        who = bridge.implementation
        if not change.rule.applies_to(who.role, bridge.mount, who.capabilities):
            return None
        return "–", "unproven until it runs again" if change.rule.level == "must" else "not run"
    if rule is None or not TABLE[rule.verdict].in_totals:
        return None
    if change.after is None:
        return str(rule.verdict), "no longer asked"
    if "annotated" in change.kinds or (change.editorial and not change.proofs.moved and "renamed" not in change.kinds):
        return None
    parts = []
    if "renamed" in change.kinds:
        parts.append(f"known there as {change.old_id}")
    moving: set[Kind] = {"re-used", "re-worded", "changed", "proven otherwise"}
    level = change.before.level != change.after.level
    if (moving & set(change.kinds) and not change.editorial) or change.proofs.moved or (not level and parts == []):
        parts.append("may change")
    elif level and rule.verdict in WRONG:
        parts.append(str(of_error(RuleFailed(""), change.after.level)))
    elif level and rule.verdict is Verdict.UNSUPPORTED:
        keeps = "keeps" if change.after.level == "must" else "no longer keeps"
        parts.append(f"unsupported, which {keeps} the whole from being conformant")
    return (str(rule.verdict), "; ".join(parts)) if parts else None


# --- Markdown ---------------------------------------------------------------------------------------------------------


def review_markdown(whole: Review) -> str:
    """The text for a pull request or a terminal."""
    found = whole.diff
    counts = Counter(change.kind for change in found.changes)
    told = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    lines = [
        MARK,
        f"## Rules: {told or 'nothing changed'}",
        "",
        f"From {code(found.base.name, 60)} ({_counted(len(found.base.catalogue.rules))}, {shown(found.base.version)}) "
        f"to {code(found.head.name, 60)} ({_counted(len(found.head.catalogue.rules))}, {shown(found.head.version)}).",
        "",
        _moved(found),
        "",
    ]
    for title, sentences in (("Broken", whole.broken), ("Against the policy", whole.against)):
        if sentences:
            lines += [f"**{title}**", "", *(f"- {escaped(sentence, 400)}" for sentence in sentences), ""]
    for change in found.changes:
        if change.kind != "annotated":
            lines += _change(change)
    quiet = [change for change in found.changes if change.kind == "annotated"]
    if quiet:
        lines += ["<details><summary>Only remarks, sources, evidence or mutants changed</summary>", ""]
        lines += [f"- {code(change.id)}: {', '.join(field.name for field in change.fields)}" for change in quiet]
        lines += ["", "</details>", ""]
    return "\n".join([*lines, *_reports(whole)]) + "\n"


def _counted(number: int) -> str:
    return f"{number} rule" if number == 1 else f"{number} rules"


def _moved(found: Diff) -> str:
    if found.part == "nothing":
        return "Neither version nor revision need move."
    what = {
        "version": "a bridge that was conformant may no longer be, or an id is gone",
        "revision": "verdicts may change, and no conformant bridge stops being so",
    }[found.part]
    done = "which it did" if found.moved_enough else f"and the rules are at {shown(found.head.version)}"
    return f"**The {found.part} must move to {shown(found.wanted)}**: {what}; {done}."


def _change(change: Change) -> Iterator[str]:
    rule = change.rule
    level = rule.level
    if change.before and change.after and change.before.level != change.after.level:
        level = f"{change.before.level} → {change.after.level}"  # type: ignore[assignment]
    words = ", ".join(kind for kind in change.kinds)
    yield f"### {words}{' (editorial)' if change.editorial else ''}: {code(change.id)}"
    yield ""
    if change.before and change.after and change.before.id != change.after.id:
        yield f"was {code(change.before.id)}  "
    yield f"{level}, {rule.relation}, {escaped(rule.where)}; moves the {change.part}"
    yield ""
    if change.before and change.after and change.before.text != change.after.text:
        yield f"> {compared(change.before.text, change.after.text)}"
    else:
        text = escaped(rule.text, 2000)
        yield f"> <del>{text}</del>" if change.after is None else f"> {text}"
    yield ""
    for field in change.fields:
        if field.name not in ("text", "level"):
            yield f"- {field.name}: {compared(field.before, field.after)}"
    for name in ("added", "removed", "changed"):
        tests = getattr(change.proofs, name)
        if tests:
            yield f"- proofs {name}: {_named(tests)}"
    yield f"- behind it: {_behind(change)}"
    yield from (f"- {escaped(remark, 600)}" for remark in change.remarks)
    yield ""


def _behind(change: Change) -> str:
    proofs = change.proofs
    parts = [
        ("scenario", "scenarios", proofs.scenarios),
        ("vector", "vectors", proofs.vectors),
        ("invariant or property", "invariants and properties", proofs.others),
        ("mutant", "mutants", proofs.mutants),
    ]
    told = [f"{len(names)} {one if len(names) == 1 else many} ({_named(names)})" for one, many, names in parts if names]
    return ", ".join(told) or "nothing proves it"


def _named(tests: Iterable[str]) -> str:
    names = list(tests)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(code(name.removeprefix("test_"), 200) for name in names[:SHOWN]) + more


def compared(before: str, after: str) -> str:
    """Two texts in one: what went is struck out, what came is underlined. Nothing in them is markup."""
    if not before or not after or alike(before, after) < 0.3:
        return " ".join(
            f"<{tag}>{escaped(text, 2000)}</{tag}>" for tag, text in (("del", before), ("ins", after)) if text
        )
    old, new = before.split(), after.split()
    parts = []
    for kind, at, to, other, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(escaped(" ".join(old[at:to]), 2000))
            continue
        if to > at:
            parts.append(f"<del>{escaped(' '.join(old[at:to]), 2000)}</del>")
        if end > other:
            parts.append(f"<ins>{escaped(' '.join(new[other:end]), 2000)}</ins>")
    return " ".join(parts)


def _reports(whole: Review) -> Iterator[str]:
    if not whole.affected:
        return
    yield "### Shipped reports"
    yield ""
    yield from table(
        ["report", "implementation", "rule", "level", "was", "becomes"],
        (
            [
                escaped(each.report, 80),
                escaped(f"{each.label} ({each.who})", 80),
                code(each.rule),
                each.level,
                escaped(each.before),
                escaped(each.after),
            ]
            for each in whole.affected
        ),
    )


# --- JSON -------------------------------------------------------------------------------------------------------------


def review_json(whole: Review) -> str:
    """The same for programs."""
    found = whole.diff
    made = {
        "format": FORMAT,
        "base": {"name": found.base.name, "version": shown(found.base.version)},
        "head": {"name": found.head.name, "version": shown(found.head.version)},
        "part": found.part,
        "wanted": shown(found.wanted),
        "movedEnough": found.moved_enough,
        "broken": list(whole.broken),
        "against": list(whole.against),
        "changes": [_plain(change) for change in found.changes],
        "affected": [
            {name: getattr(each, name) for name in ("report", "label", "who", "rule", "level", "before", "after")}
            for each in whole.affected
        ],
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _plain(change: Change) -> dict[str, Any]:
    proofs = change.proofs
    return {
        "id": change.id,
        "was": change.before.id if change.before else None,
        "kinds": list(change.kinds),
        "editorial": change.editorial,
        "part": change.part,
        "surface": change.rule.surface,
        "level": {
            "before": change.before.level if change.before else None,
            "after": change.after.level if change.after else None,
        },
        "text": {
            "before": change.before.text if change.before else None,
            "after": change.after.text if change.after else None,
        },
        "fields": {field.name: {"before": field.before, "after": field.after} for field in change.fields},
        "scenarios": list(proofs.scenarios),
        "vectors": list(proofs.vectors),
        "others": list(proofs.others),
        "mutants": list(proofs.mutants),
        "proofs": {name: list(getattr(proofs, name)) for name in ("added", "removed", "changed")},
        "remarks": list(change.remarks),
    }
