"""Compiles ``features/`` into pickles with positions, and finds what pytest-bdd would let pass in silence.

A pickle is one example of a scenario: the scenario itself, or one row of its ``Examples:``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gherkin.errors import CompositeParserException, ParserException
from gherkin.parser import Parser
from gherkin.pickles.compiler import Compiler
from gherkin.token_scanner import TokenScanner

from conformance import resources
from conformance.catalogue.model import Catalogue, Side
from conformance.catalogue.problems import Problem, did_you_mean, either, near

TAGS: Mapping[str, str] = {
    "rule:": "the one rule that the scenario proves",
    "on:": "the side of a differs rule that the scenario shows, pi or bridge",
    "case:": "a slug that names the scenario among those of its rule, where a number would not do",
    "slow": "takes more than a second",
}
"""Every tag a feature may use; a name that ends in a colon takes a value."""

_SIDES: Mapping[str, Side] = {"pi": "pi", "bridge": "bridge"}
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Step:
    """One step with the values of its row put in. ``table`` holds rows of cells; ``line`` is that of the feature."""

    text: str
    line: int
    table: tuple[tuple[str, ...], ...] | None = None
    docstring: str | None = None


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag without its @, and the line it stands on."""

    name: str
    line: int

    def value(self, prefix: str) -> str | None:
        """What follows ``prefix``, or None where the tag does not begin so."""
        return self.name[len(prefix) :] if self.name.startswith(prefix) else None


@dataclass(frozen=True, slots=True)
class Pickle:
    """One example of a scenario.

    ``path`` is absolute, as pytest-bdd needs it; ``file`` is what people read. ``scenario`` is the title as written,
    with its <placeholders>, ``name`` the title of this example. ``row`` counts the examples of an outline from 1 and
    is None elsewhere; ``values`` are that row's cells by heading. ``line`` is the scenario's or the row's.
    ``rule_id`` is empty where the tag is missing, ``item`` is the test's name.
    """

    path: Path
    file: str
    line: int
    surface: str
    scenario: str
    name: str
    rule_id: str
    side: Side | None
    tags: tuple[Tag, ...]
    steps: tuple[Step, ...]
    row: int | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    item: str = ""

    @property
    def where(self) -> str:
        """File and line, as an editor understands it."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Features:
    """Every pickle in file order, and what is wrong with the files whatever the rules are.

    ``files`` maps each feature's path (``tools/tool_call``) to the file as shown.
    """

    pickles: tuple[Pickle, ...]
    problems: tuple[Problem, ...]
    files: Mapping[str, str]

    def of_rule(self, rule_id: str) -> tuple[Pickle, ...]:
        """The pickles that prove this rule, in file order."""
        return tuple(pickle for pickle in self.pickles if pickle.rule_id == rule_id)


def compile_features(root: Path | None = None) -> Features:
    """Compile every ``*.feature`` below ``root`` (by default the project's own), in path order."""
    folder = resources.features_dir() if root is None else root
    pickles: list[Pickle] = []
    problems: list[Problem] = []
    files: dict[str, str] = {}
    for path in sorted(folder.rglob("*.feature")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        files[name] = f"{folder.name}/{name}.feature"
        compiler = _Compiled(path.resolve(), files[name])
        pickles += compiler.pickles()
        problems += compiler.problems
    return Features(tuple(_with_items(pickles)), tuple(problems), files)


def lint(features: Features, catalogue: Catalogue) -> list[Problem]:
    """What is wrong between the pickles and the rules their tags name."""
    problems = []
    paths = {surface.path for surface in catalogue.surfaces}
    for name, file in features.files.items():
        if name not in paths:
            mend = f"name the file after a surface{did_you_mean(near(name, paths)).rstrip('?')}"
            problems.append(Problem(file, 1, f"no surface is called {name}", mend))
    for pickle in features.pickles:
        if pickle.row in (None, 1):
            problems += _tag_problems(pickle, catalogue)
    return problems


def _tag_problems(pickle: Pickle, catalogue: Catalogue) -> Iterator[Problem]:
    named = [tag for tag in pickle.tags if tag.name.startswith("rule:")]
    title = f"the scenario “{pickle.scenario}”"
    if len(named) != 1:
        ids = ", ".join(tag.name for tag in named)
        what = f"names more than one rule ({ids})" if named else "names no rule"
        mend = "keep one @rule: tag and write a scenario for each other rule" if named else "add @rule:<rule id>"
        yield Problem(pickle.file, pickle.line, f"{title} {what}", mend)
        return
    rule = catalogue.by_id.get(pickle.rule_id)
    if rule is None:
        guess = did_you_mean(near(pickle.rule_id, catalogue.by_id)).rstrip("?")
        mend = f"correct the tag{guess}, or write the rule"
        yield Problem(pickle.file, named[0].line, f"{title} names the unknown rule {pickle.rule_id!r}", mend)
        return
    if rule.surface != pickle.surface:
        what = f"{title} proves {rule.id} in the feature of {pickle.surface}"
        yield Problem(pickle.file, named[0].line, what, f"move it to the feature of {rule.surface}")
    sides = [tag for tag in pickle.tags if tag.name.startswith("on:")]
    if rule.relation == "differs" and len(sides) != 1:
        what = f"{title} proves {rule.id}, which differs from Pi, and names {'two sides' if sides else 'no side'}"
        yield Problem(pickle.file, pickle.line, what, "give it exactly one of @on:pi and @on:bridge")
    if rule.relation != "differs" and sides:
        what = f"{title} names a side, and {rule.id} has none (relation {rule.relation}, at {rule.where})"
        yield Problem(pickle.file, sides[0].line, what, f"drop @{sides[0].name}, or make the rule differ")


class _Compiled:
    """One feature file on its way to pickles."""

    def __init__(self, path: Path, file: str) -> None:
        self.path = path
        self.file = file
        self.problems: list[Problem] = []
        self._lines: dict[str, int] = {}
        self._titles: dict[str, int] = {}

    def pickles(self) -> list[Pickle]:
        document = self._parse()
        if document is None:
            return []
        feature = document.get("feature")
        if feature is None:
            self._report(1, "the file holds no feature", "write one, or delete the file")
            return []
        self._tags(feature["tags"])
        outlines: dict[str, dict[str, Any]] = {}
        for scenario in self._scenarios(feature):
            outlines[scenario["id"]] = scenario
            self._check_scenario(scenario)
        document["uri"] = self.file
        compiled: list[Any] = Compiler().compile(document)
        rows: dict[str, int] = {}
        return [self._pickle(pickle, outlines[pickle["astNodeIds"][0]], rows) for pickle in compiled]

    def _parse(self) -> Any:
        try:
            return Parser().parse(TokenScanner(self.path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            self._report(1, "the file is not UTF-8", "save it as UTF-8")
        except CompositeParserException as error:
            for each in error.errors:
                self._not_gherkin(each)
        except ParserException as error:
            self._not_gherkin(error)
        return None

    def _not_gherkin(self, error: ParserException) -> None:
        said = re.sub(r"^\(\d+:\d+\): ", "", str(error))
        self._report(
            error.location["line"], f"this is not Gherkin ({said})", "start each line with a keyword, a tag, a | or a #"
        )

    def _report(self, line: int, what: str, mend: str) -> None:
        self.problems.append(Problem(self.file, line, what, mend))

    def _scenarios(self, parent: Any) -> Iterator[dict[str, Any]]:
        for child in parent["children"]:
            if "rule" in child:
                self._tags(child["rule"]["tags"])
                yield from self._scenarios(child["rule"])
            elif "background" in child:
                self._note_steps(child["background"])
            elif "scenario" in child:
                yield child["scenario"]

    def _note_steps(self, holder: Any) -> None:
        self._lines.update({step["id"]: step["location"]["line"] for step in holder["steps"]})

    def _check_scenario(self, scenario: dict[str, Any]) -> None:
        line, title = scenario["location"]["line"], scenario["name"]
        self._tags(scenario["tags"])
        self._note_steps(scenario)
        if title in self._titles:
            what = f"a scenario called “{title}” is already at line {self._titles[title]}; only one of them would run"
            self._report(line, what, "rename one of them, also where they stand under different Rule: blocks")
        self._titles.setdefault(title, line)
        if not title:
            self._report(line, "the scenario has no title", "say in a few words what the example shows")
        if not scenario["steps"]:
            self._report(line, f"the scenario “{title}” has no steps and would pass", "write its steps, or delete it")
        for examples in scenario["examples"]:
            for tag in examples["tags"]:
                what = f"{tag['name']} stands on Examples:, where pytest-bdd does not apply it"
                self._report(tag["location"]["line"], what, "move it to the scenario, or split the scenario")
            rows = examples.get("tableBody")
            if not rows:
                where = examples["location"]["line"]
                self._report(where, f"the Examples: of “{title}” have no row and would run nothing", "write a row")
            for row in rows or ():
                self._lines[row["id"]] = row["location"]["line"]

    def _tags(self, tags: list[Any]) -> None:
        for tag in tags:
            name, line = tag["name"][1:], tag["location"]["line"]
            self._lines[tag["id"]] = line
            head, colon, value = name.partition(":")
            if head + colon not in TAGS:
                known = [f"@{known}" for known in TAGS]
                guess = did_you_mean(near(f"@{head}{colon}", known)).rstrip("?")
                self._report(line, f"@{name} is not a tag of this suite{guess}", f"use one of {either(known)}")
            elif head == "on" and value not in _SIDES:
                self._report(line, f"@{name} is no side", "write @on:pi or @on:bridge")
            elif head == "case" and not _SLUG.fullmatch(value):
                self._report(line, f"@{name} is not a slug", "write it in lower case with hyphens")

    def _pickle(self, pickle: Any, scenario: dict[str, Any], rows: dict[str, int]) -> Pickle:
        tags = tuple(Tag(tag["name"][1:], self._lines.get(tag["astNodeId"], 1)) for tag in pickle["tags"])
        row, values = None, {}
        if len(pickle["astNodeIds"]) > 1:
            row = rows[scenario["id"]] = rows.get(scenario["id"], 0) + 1
            values = _cells(scenario, pickle["astNodeIds"][1])
        sides = [_SIDES[value] for tag in tags if (value := tag.value("on:")) and value in _SIDES]
        return Pickle(
            path=self.path,
            file=self.file,
            line=self._lines.get(pickle["astNodeIds"][-1], scenario["location"]["line"]),
            surface=self.path.stem,
            scenario=scenario["name"],
            name=pickle["name"],
            rule_id=next((value for tag in tags if (value := tag.value("rule:"))), ""),
            side=sides[0] if sides else None,
            tags=tags,
            steps=tuple(self._step(step) for step in pickle["steps"]),
            row=row,
            values=values,
        )

    def _step(self, step: Any) -> Step:
        argument = step.get("argument", {})
        table = argument.get("dataTable")
        return Step(
            text=step["text"],
            line=self._lines.get(step["astNodeIds"][0], 1),
            table=table and tuple(tuple(cell["value"] for cell in row["cells"]) for row in table["rows"]),
            docstring=argument.get("docString", {}).get("content"),
        )


def _cells(scenario: dict[str, Any], row_id: str) -> dict[str, str]:
    for examples in scenario["examples"]:
        for row in examples.get("tableBody", ()):
            if row["id"] == row_id:
                headings = (cell["value"] for cell in examples["tableHeader"]["cells"])
                return dict(zip(headings, (cell["value"] for cell in row["cells"]), strict=True))
    return {}


def item_id(rule_id: str, slug: str = "") -> str:
    """The name of a test: titles never make it, so that rewording a scenario keeps its history."""
    return f"test_{rule_id}--{slug}" if slug else f"test_{rule_id}"


def _with_items(pickles: list[Pickle]) -> Iterator[Pickle]:
    """Name each pickle: the first of a rule after the rule, Pi's side of a difference with ``pi``, others counted."""
    counts: dict[tuple[str, ...], int] = {}
    for pickle in pickles:
        case = next((value for tag in pickle.tags if (value := tag.value("case:"))), "")
        stem = [part for part in ("pi" if pickle.side == "pi" else "", case) if part]
        key = (pickle.rule_id, *stem)
        counts[key] = counts.get(key, 0) + 1
        number = [str(counts[key])] if counts[key] > 1 else []
        yield replace(pickle, item=item_id(pickle.rule_id, "-".join(stem + number)))
