"""The matrix as a page, Markdown, JUnit and badges: complete, and deaf to what an implementation calls itself."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import msgspec
import pytest

from conformance import cli
from conformance.catalogue import Features, compile_features, load_catalogue
from conformance.reporting._html import FOLDER, GLYPHS
from conformance.reporting.again import command
from conformance.reporting.badge import badge
from conformance.reporting.examples import examples_of, surfaces_of
from conformance.reporting.junit import PROVEN, matrix_junit
from conformance.reporting.markdown import MOST, escaped, matrix_markdown
from conformance.reporting.merge import merge
from conformance.reporting.model import Broken, DeviationReport, ExampleReport, ProofReport, Report
from conformance.reporting.page import DIAGRAMS, matrix_page
from conformance.verdicts import TABLE, Verdict
from tests.fast.small_reports import bridge, proof, read, report, rule, saved

HOSTILE = "</script><img src=x onerror=alert(1)>\"'>`|<b>&amp;{{7*7}}@all\u202e\x1b[31m\x00"


DECIDED = {"id", "surface", "level", "relation", "verdict", "role", "kind", "selection", "started", "state"}
"""Fields whose words are checked when a report is read, and those that name rules here."""


class Page(HTMLParser):
    """What a browser without scripts makes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.data: dict[str, Any] = {}
        self._in = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._in = tag

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in == "script" and data.startswith("{"):
            self.data = json.loads(data)
        elif self._in not in ("script", "style"):
            self.text += data


def poisoned(value: Any, key: str = "") -> Any:
    """The report with a hostile text in place of each that its maker could have chosen freely."""
    if isinstance(value, dict):
        return {name: poisoned(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [poisoned(each, key) for each in value]
    return HOSTILE if isinstance(value, str) and key not in DECIDED else value


def hostile() -> Report:
    """A report with markup, controls and changes of direction wherever there is room for them."""
    failing = proof(
        "a.x",
        Verdict.FAIL,
        message=HOSTILE,
        step=HOSTILE,
        expected={HOSTILE: HOSTILE},
        got=HOSTILE,
        broken=[Broken(invariant=HOSTILE, rules=[HOSTILE], sentence=HOSTILE)],
    )
    entry = DeviationReport(rule="a.y", reason=HOSTILE, added=HOSTILE, expires=HOSTILE, link=HOSTILE, state="holds")
    made = bridge(
        "x",
        rule("a.x", Verdict.FAIL, proofs=[failing]),
        rule("a.y", Verdict.DEVIATION, on_pi=HOSTILE, because=HOSTILE, interpretation=HOSTILE, relation="differs"),
        rule("a.z", Verdict.NOT_RUN),
        rule("a.w"),
        deviations=[entry],
    )
    example = msgspec.to_builtins(ExampleReport(title=HOSTILE, lines=[HOSTILE]))
    plain = poisoned(msgspec.to_builtins(report(made, notes=[HOSTILE])))
    plain["examples"] = {"test_a.w": example, HOSTILE: example}
    plain["bridges"][0]["implementation"]["versions"] = {HOSTILE: HOSTILE}
    plain["bridges"][0]["implementation"]["issuesUrl"] = "javascript:alert(1)"
    return msgspec.convert(plain, Report)


def test_whatever_an_implementation_says_is_text_on_the_page() -> None:
    text = matrix_page(merge([read(hostile())]))
    page = Page(text)

    assert "img" not in page.tags
    assert page.tags.count("script") == 2
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not [
        value for name, value in page.attributes if name == "href" and value and not value.startswith(("#", "data:"))
    ]
    assert "</script><img src=x onerror=alert(1)>" in page.text
    assert "\u202e" not in text
    assert "\u202e" not in json.dumps(page.data, ensure_ascii=False)
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "{{7*7}}" in page.text


def test_the_page_runs_its_own_script_only_and_asks_nobody() -> None:
    page = Page(matrix_page(merge([read(report(bridge("b", rule("a.x"))))])))
    policy = next(value for name, value in page.attributes if name == "content" and value and "default-src" in value)

    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]+'", policy)
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
    assert not [
        value for name, value in page.attributes if name in ("src", "action") or (value or "").startswith("http")
    ]


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_sign_a_word_and_a_place_in_the_legend(verdict: Verdict) -> None:
    text = matrix_page(merge([read(report(bridge("b", rule("a.x", verdict))))]))

    assert verdict in GLYPHS
    assert f".c.{verdict.replace(' ', '-')}::before" in text
    assert TABLE[verdict].when in Page(text).text


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("dark", [False, True])
def test_every_word_can_be_read_on_every_ground_it_stands_on(dark: bool) -> None:
    style = (FOLDER / "matrix.css").read_text(encoding="utf-8")
    colours = {name: pair[dark] for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", style)}
    grounds = {name: [f"{name}-bg", "paper", "raised"] for name in ("good", "bad", "fair", "open", "odd", "pi")}
    grounds |= {name: ["paper", "raised", "sunk"] for name in ("ink", "quiet", "accent")}

    for word, each in grounds.items():
        for ground in each:
            lighter, darker = sorted((luminance(colours[word]), luminance(colours[ground])), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, f"{word} on {ground}"


def test_a_capability_that_is_not_as_declared_is_in_the_totals() -> None:
    made = bridge("b", rule("a.x"))
    summary = msgspec.structs.replace(made.summary, absent_capabilities=["exec"], undeclared_capabilities=["steer"])
    page = Page(matrix_page(merge([read(report(msgspec.structs.replace(made, summary=summary)))])))

    assert "declared and not there: exec" in page.text
    assert "there and not declared: steer" in page.text


def test_an_unproven_must_is_named_in_the_totals() -> None:
    page = Page(matrix_page(merge([read(report(bridge("b", rule("a.x"), rule("a.y", Verdict.UNSUPPORTED))))])))

    assert "1 must unproven" in " ".join(page.text.split())
    assert ("href", "#r-a.y") in page.attributes


def test_a_difference_that_pi_shows_is_marked_as_stated() -> None:
    differs = rule("a.x", relation="differs", on_pi="It sings.", because="The host is deaf.")
    page = Page(matrix_page(merge([read(report(bridge("p", differs, role="pi"), bridge("b", differs)))])))

    assert ("class", "c pass pi differs") in page.attributes
    assert ("class", "c pass bridge") in page.attributes
    assert "It sings." in page.text
    assert "The host is deaf." in page.text


def test_a_reader_without_scripts_finds_what_was_expected_and_got() -> None:
    failing = proof("a.x", Verdict.FAIL, expected="the sun", got="rain", message="expected: the sun; got: rain")
    page = Page(matrix_page(merge([read(report(bridge("b", rule("a.x", Verdict.FAIL, proofs=[failing]))))])))

    assert ("href", "#f0-0-body") in page.attributes
    assert ("id", "f0-0-body") in page.attributes
    assert "the sun" in page.text
    assert "rain" in page.text
    assert "bridge-conformance run --bridge=b --rule=a.x--1" in page.text


def test_the_picture_of_a_trace_is_on_the_page(tmp_path: Path) -> None:
    failing = proof("a.x", Verdict.FAIL, trace="traces/b--a.x.jsonl")
    path = saved(tmp_path, report(bridge("b", rule("a.x", Verdict.FAIL, proofs=[failing]))))
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "b--a.x.jsonl").write_text('{"seq":1,"at":0.0,"kind":"turn.start","agent":"main"}\n')
    target = tmp_path / "page.html"

    assert cli.main(["matrix", str(path), "--output", str(target)]) == 0

    assert Page(target.read_text()).data["pictures"][0].startswith("<svg")


@pytest.mark.parametrize("name", ["../secret.jsonl", "{}/secret.jsonl", "traces/../../secret.jsonl", "secret.jsonl"])
def test_a_report_cannot_have_other_files_shown(tmp_path: Path, name: str) -> None:
    (tmp_path / "run" / "traces").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "run"):
        (folder / "secret.jsonl").write_text('{"seq":1,"at":0.0,"kind":"turn.start","agent":"secret"}\n')
    failing = proof("a.x", Verdict.FAIL, trace=name.format(tmp_path))
    path = saved(tmp_path / "run", report(bridge("b", rule("a.x", Verdict.FAIL, proofs=[failing]))))

    cli.main(["matrix", str(path), "--output", str(tmp_path / "page.html")])

    assert Page((tmp_path / "page.html").read_text()).data["pictures"] == []
    assert DIAGRAMS > 0


def test_a_command_is_quoted_for_a_shell() -> None:
    odd = bridge("x; rm -rf ~", rule("a.x", Verdict.FAIL))

    assert command(odd, "a.x", proof("a.x")) == "bridge-conformance run --bridge='x; rm -rf ~' --rule=a.x--1"


def test_a_broken_invariant_is_repeated_by_the_test_that_broke_it() -> None:
    seen = msgspec.structs.replace(
        proof("a.x"), item="invariant:quiet", kind="invariant", node="test_features.py::test_b.y--two[b]"
    )

    assert command(bridge("b"), "a.x", seen) == "bridge-conformance run --bridge=b --rule=b.y--two"


# --- Markdown ---------------------------------------------------------------------------------------------------------


def test_markdown_gives_no_meaning_to_what_an_implementation_says() -> None:
    text = matrix_markdown(merge([read(hostile())]))

    assert not re.search(r"<(?!/?(?:code|details|summary|sub|b)>)", text)
    assert "`" not in text
    assert "@all" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert {line.count("|") for line in rows} <= {9, 6, 3}


@pytest.mark.parametrize(
    "text",
    [
        "*a*",
        "_a_",
        "`a`",
        "[a](b)",
        "<b>",
        "a|b",
        "@you",
        "#12",
        "~~a~~",
        "https://x.y",
        "www.x.y",
        "- a",
        "1. a",
        "a\nb",
    ],
)
def test_markdown_is_escaped_as_references(text: str) -> None:
    assert not re.search(r"[*`\[\]<>|@~\n]|#(?!\d+;)|://|www\.|\b_|_\b|^-|^\d+[.)]\s", escaped(text))


def test_markdown_names_every_unproven_must_however_many() -> None:
    many = [rule(f"a.x{number}", Verdict.NOT_RUN) for number in range(MOST + 20)]

    text = matrix_markdown(merge([read(report(bridge("b", *many)))]))

    assert all(f"<code>a.x{number}</code>" in text for number in range(MOST + 20))


def test_markdown_counts_what_it_leaves_out() -> None:
    many = [rule(f"a.x{number}", Verdict.FAIL) for number in range(MOST + 20)]

    assert "and 20 more." in matrix_markdown(merge([read(report(bridge("b", *many)))]))


# --- JUnit ------------------------------------------------------------------------------------------------------------


def witness() -> ProofReport:
    return msgspec.structs.replace(proof("a.x"), item="invariant:quiet", kind="invariant")


def junit(one: Report) -> Xml.Element:
    return Xml.fromstring(matrix_junit(merge([read(one)])))


@pytest.mark.parametrize("verdict", Verdict)
def test_junit_follows_the_table_of_verdicts(verdict: Verdict) -> None:
    made = rule("a.x", verdict, proofs=[proof("a.x", verdict)])
    cases = [case for case in junit(report(bridge("b", made))).iter("testcase") if case.get("name") != PROVEN]
    wanted = TABLE[verdict].junit

    if wanted == "none":
        assert cases == []
    elif wanted == "passed":
        assert [child.tag for child in cases[0] if child.tag != "system-out"] == []
    else:
        assert [child.tag for child in cases[0]] == [wanted]


@pytest.mark.parametrize("verdict", [Verdict.NOT_RUN, Verdict.UNSUPPORTED, Verdict.INCONCLUSIVE, Verdict.HARNESS_ERROR])
def test_junit_fails_while_a_must_is_unproven(verdict: Verdict) -> None:
    (case,) = [
        case for case in junit(report(bridge("b", rule("a.x", verdict)))).iter("testcase") if case.get("name") == PROVEN
    ]

    assert [child.tag for child in case] == ["failure"]
    assert "a.x" in (case[0].text or "")


def test_junit_counts_what_it_holds() -> None:
    root = junit(report(bridge("b", rule("a.x"), rule("a.y", Verdict.FAIL), rule("a.z", Verdict.HARNESS_ERROR))))

    assert [root.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["4", "2", "1", "0"]


def test_junit_tells_apart_what_proves_several_rules() -> None:
    both = [rule(f"a.{name}", proofs=[proof(f"a.{name}"), witness()]) for name in "xy"]
    names = [case.get("name") for case in junit(report(bridge("b", *both))).iter("testcase")]

    assert sorted(set(names)) == sorted(names)
    assert "a.x by invariant:quiet" in names


def test_junit_of_a_hostile_report_is_well_formed() -> None:
    root = junit(hostile())

    assert any("onerror" in (found.text or "") for found in root.iter("failure"))


# --- badges -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "message", "colour"),
    [
        ([rule("a.x")], "conformant", "brightgreen"),
        ([rule("a.x"), rule("a.y", Verdict.DEPARTS, level="should")], "conformant with 1 departure", "green"),
        ([rule("a.x", Verdict.DEVIATION)], "conformant with 1 deviation", "yellowgreen"),
        ([rule("a.x", Verdict.FAIL)], "not conformant (1 wrong)", "red"),
        ([rule("a.x"), rule("a.y", Verdict.NOT_RUN)], "unproven (1 unproven must)", "orange"),
    ],
)
def test_a_badge_says_the_word_and_every_number_that_limits_it(rules: list[Any], message: str, colour: str) -> None:
    made = json.loads(badge(merge([read(report(bridge("b", *rules)))]).columns[0]))

    assert made == {"schemaVersion": 1, "label": "Pi bridge b", "message": message, "color": colour}


def test_the_badge_is_the_bridges_where_pi_stands_beside_it(tmp_path: Path) -> None:
    path = saved(tmp_path, report(bridge("p", rule("a.x"), role="pi"), bridge("b", rule("a.x", Verdict.FAIL))))

    assert cli.main(["matrix", str(path), "--badge", str(tmp_path / "badge.json")]) == 0
    assert json.loads((tmp_path / "badge.json").read_text())["label"] == "Pi bridge b"


def test_one_badge_of_two_bridges_must_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path, report(bridge("b", rule("a.x")), bridge("c", rule("a.x"))))

    assert cli.main(["matrix", str(path), "--badge", str(tmp_path / "badge.json")]) == 4
    assert "--badge-of: b, c" in capsys.readouterr().err
    assert cli.main(["matrix", str(path), "--badge", str(tmp_path / "all")]) == 0
    assert sorted(each.name for each in (tmp_path / "all").iterdir()) == ["b.json", "c.json"]


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"format": 99}', '{"format": 1}', "[" * 100_000])
def test_what_is_no_report_is_wrong_use_with_a_mend(
    tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "conformance.json"
    if content is not None:
        path.write_text(content)

    assert cli.main(["matrix", str(path), "--output", str(tmp_path / "page.html")]) == 4
    assert "Mend: " in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_a_report_of_a_newer_suite_that_kept_the_form_is_read(tmp_path: Path) -> None:
    path = saved(tmp_path, report(bridge("b", rule("a.x"))))
    newer = json.loads(path.read_text())
    newer["mood"] = "fine"
    newer["bridges"][0]["rules"][0]["mood"] = "fine"
    path.write_text(json.dumps(newer))

    assert cli.main(["matrix", str(tmp_path), "--output", str(tmp_path / "page.html")]) == 0


def test_markdown_can_be_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved(tmp_path, report(bridge("b", rule("a.x"))))

    assert cli.main(["matrix", str(tmp_path), "--markdown", "-"]) == 0
    assert capsys.readouterr().out.startswith("## Bridge conformance")


def test_examples_of_one_scenario_are_told_apart() -> None:
    features = compile_features()
    found = examples_of(load_catalogue(), features, [pickle.item for pickle in features.pickles])
    by_rule: dict[str, list[str]] = {}
    for pickle in features.pickles:
        by_rule.setdefault(f"{pickle.rule_id} {pickle.side}", []).append(found[pickle.item].title)

    assert [rule for rule, titles in by_rule.items() if len(set(titles)) < len(titles)] == []


def test_a_report_says_what_its_surfaces_and_tests_are() -> None:
    catalogue = load_catalogue()
    row = next(row for each in catalogue.rules for row in each.vectors)
    owner = next(each for each in catalogue.rules if row in each.vectors)
    item = f"test_{owner.id}--{row.case}"

    assert [each.name for each in surfaces_of(catalogue)] == [each.name for each in catalogue.surfaces]
    found = examples_of(catalogue, Features((), (), {}), [item, "test_nothing"])
    assert list(found) == [item]
    assert any(line.startswith("schema: ") for line in found[item].lines)
