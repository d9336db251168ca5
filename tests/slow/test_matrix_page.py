"""The matrix page as people meet it: in a browser, on a phone, by keyboard, by screen reader, without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from conformance.reporting.merge import merge
from conformance.reporting.model import Report
from conformance.reporting.page import matrix_page
from conformance.verdicts import Verdict
from tests.fast.small_reports import bridge, proof, read, report, rule
from tests.fast.test_matrix import hostile
from tests.slow.small_browser import CHROMIUM, Browser, browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; Debian's package chromium brings one")

OPENS_WITHIN = 2.0
"""Seconds in which a page of 5,000 results is there."""
SLOWER = 6
"""Times that it may take longer than a bare table of the same texts; measured were 3 to 4."""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Three rules on Pi and on a bridge that fails one of them."""
    failing = proof("b.y", Verdict.FAIL, expected="the sun", got="rain", message="it rains")
    differs = rule("b.x", relation="differs", on_pi="It sings.", because="The host is deaf.")
    pi = bridge("pi", rule("a.x"), differs, rule("b.y", Verdict.NOT_APPLICABLE, relation="bridge"), role="pi")
    mine = bridge("mine", rule("a.x"), differs, rule("b.y", Verdict.FAIL, proofs=[failing], relation="bridge"))
    return written(tmp_path, report(pi, mine))


def written(folder: Path, *reports: Report) -> Path:
    path = folder / "matrix.html"
    path.write_text(matrix_page(merge([read(each) for each in reports])), encoding="utf-8")
    return path


def shown(chromium: Browser) -> list[str]:
    """The ids of the rules that can be seen."""
    ids = chromium.run(
        "[...document.querySelectorAll('tr[data-r]')].filter(row => row.offsetHeight > 0).map(row => row.id)"
    )
    return [each.removeprefix("r-") for each in ids]


def test_it_opens_without_a_complaint_and_asks_nobody(chromium: Browser, page: Path) -> None:
    chromium.screen(1280)
    chromium.requests.clear()
    chromium.said.clear()

    chromium.open(page)

    assert chromium.said == []
    assert [each for each in chromium.requests if not each.startswith(("file:", "data:", "about:"))] == []
    assert shown(chromium) == ["a.x", "b.x", "b.y"]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_wider_than_the_screen(chromium: Browser, page: Path, width: int, dark: bool) -> None:
    chromium.screen(width, dark=dark)
    chromium.open(page)

    assert chromium.run("document.documentElement.scrollWidth") <= width
    paper = chromium.run("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is not dark


def test_a_cell_opens_to_expected_got_and_the_command(chromium: Browser, page: Path) -> None:
    chromium.screen(390)
    chromium.open(page)

    chromium.run("document.querySelector('td.c.fail').click()")

    said = chromium.run("document.querySelector('dialog[open]').innerText")
    for words in ("b.y", "the sun", "rain", "it rains", "bridge-conformance run --bridge=mine --rule=b.y--1"):
        assert words in said


def test_the_keyboard_reaches_everything(chromium: Browser, page: Path) -> None:
    chromium.screen(1280)
    chromium.open(page)

    chromium.run("document.querySelector('td.c[tabindex=\"0\"]').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        chromium.press(key)
    assert "b.y" in chromium.run("document.querySelector('dialog[open] h2').textContent")

    chromium.press("Escape")
    assert chromium.until("document.activeElement.className === 'c fail bridge'")
    chromium.press("/", "/")
    assert chromium.run("document.activeElement.id") == "text"
    assert chromium.run("document.querySelectorAll('td.c[tabindex=\"0\"]').length") == 1


def test_a_closing_cell_takes_the_focus_from_nobody(chromium: Browser, page: Path) -> None:
    chromium.screen(1280)
    chromium.open(page)
    chromium.run("document.querySelector('td.c.fail').click()")

    focused = chromium.run(
        """new Promise((done) => {
            const dialog = document.querySelector("dialog[open]");
            dialog.addEventListener("close", () => setTimeout(() => done(document.activeElement.id)));
            dialog.close();
            document.getElementById("text").focus();
        })"""
    )

    assert focused == "text"


def test_a_cell_opened_by_its_address_has_the_focus_when_it_closes(chromium: Browser, page: Path) -> None:
    chromium.screen(1280)
    chromium.open(page)
    chromium.run("document.querySelector('td.c.fail').click()")
    address = chromium.run("location.hash")
    chromium.open(page, address)

    chromium.press("Escape")

    assert chromium.until("document.activeElement.className === 'c fail bridge'")


def test_filters_hide_rules_and_say_so(chromium: Browser, page: Path) -> None:
    chromium.screen(1280)
    chromium.open(page)
    totals = chromium.run("document.querySelector('.cards').innerText")

    chromium.run("document.querySelector('[data-verdict=fail]').click()")

    assert shown(chromium) == ["b.y"]
    assert "1 of 3" in chromium.run("document.getElementById('shown').textContent")
    assert chromium.run("document.querySelector('.cards').innerText") == totals
    chromium.run("document.getElementById('reset').click()")
    assert len(shown(chromium)) == 3


@pytest.mark.parametrize(
    ("address", "ids"),
    [
        ("#?verdict=fail", ["b.y"]),
        ("#?surface=a", ["a.x"]),
        ("#?relation=differs", ["b.x"]),
        ("#?text=rains", ["b.y"]),
        ("#?text=deaf+sings", ["b.x"]),
        ("#?level=should", []),
        ("#?split=1", []),
    ],
)
def test_a_view_can_be_handed_on_as_an_address(chromium: Browser, page: Path, address: str, ids: list[str]) -> None:
    chromium.screen(1280)

    chromium.open(page, address)

    assert shown(chromium) == ids


def test_one_cell_can_be_handed_on_as_an_address(chromium: Browser, page: Path) -> None:
    chromium.screen(1280)
    chromium.open(page)
    chromium.run("document.querySelector('[data-level=must]').click()")
    chromium.run("document.querySelector('td.c.fail').click()")
    address = chromium.run("location.hash")

    chromium.open(page, address)

    assert "b.y" in chromium.run("document.querySelector('dialog[open] h2').textContent")
    assert "mine" in chromium.run("document.querySelector('dialog[open] h2').textContent")
    chromium.press("Escape")
    assert chromium.until("location.hash === '#?level=must'")


def test_a_cell_that_a_filter_hides_is_shown_all_the_same(chromium: Browser, page: Path) -> None:
    chromium.screen(1280)
    chromium.open(page, "#?level=may&rule=b.y&on=mine")

    assert "b.y" in chromium.run("document.querySelector('dialog[open] h2').textContent")
    assert len(shown(chromium)) == 3


def test_a_link_to_a_rule_shows_it(chromium: Browser, page: Path) -> None:
    chromium.screen(390)
    chromium.open(page, "#r-b.y")

    assert chromium.run("document.querySelector('tr:target').id") == "r-b.y"


@pytest.mark.parametrize("width", [390, 1280])
def test_a_screen_reader_hears_a_table_with_headings(chromium: Browser, page: Path, width: int) -> None:
    chromium.screen(width)
    chromium.open(page)
    heard = chromium.tree()
    named = {(each["role"], each["name"]) for each in heard}

    assert [each["role"] for each in heard].count("gridcell") == 6 + 4
    assert ("grid", "Rules") in named
    assert ("heading", "Totals") in named
    assert ("searchbox", "Text in the rule, its id or its answers") in named
    assert any(role == "columnheader" and name.startswith("mine") for role, name in named)
    assert any(role == "rowheader" and "The sentence of b.y." in name for role, name in named)
    # The sign before a verdict is for the eye.
    assert any(role == "gridcell" and name.startswith("fail") for role, name in named)


@pytest.mark.parametrize("width", [390, 1280])
def test_it_can_be_read_without_scripts(chromium: Browser, page: Path, width: int) -> None:
    chromium.screen(width, script=False)
    chromium.open(page, "#f1-2-body")
    try:
        chromium.screen(width)
        said = chromium.run("document.body.innerText")
    finally:
        chromium.screen(width)

    assert "The sentence of a.x." in said
    assert "Search rules" not in said
    assert chromium.run("document.querySelector('#f1-2 .body').textContent").count("the sun") >= 1
    assert chromium.run("document.querySelector('td.c.fail a').getAttribute('href')") == "#f1-2-body"
    assert chromium.run("document.getElementById('f1-2').open")


def test_what_a_hostile_implementation_is_called_shows_as_text(chromium: Browser, tmp_path: Path) -> None:
    chromium.screen(1280)
    chromium.said.clear()
    chromium.open(written(tmp_path, hostile()))
    chromium.run("for (const finding of document.querySelectorAll('details')) finding.open = true")
    for kind in ("fail", "pass", "deviation"):
        chromium.run(f"document.querySelector('td.c.{kind}').click()")

    assert chromium.said == []
    assert chromium.run("document.images.length") == 0
    assert chromium.run("document.querySelectorAll('[onerror], a[href^=\"javascript\"]').length") == 0
    assert "<img src=x onerror=alert(1)>" in chromium.run("document.body.innerText")


def test_a_page_of_5000_results_opens_within_two_seconds(chromium: Browser, tmp_path: Path) -> None:
    """Counted is processor time of the page's thread: on a machine that does nothing else, what a reader waits for."""
    verdicts = [Verdict.PASS] * 9 + [Verdict.FAIL]
    many = [
        report(
            bridge(
                f"bridge-{number}",
                *(
                    rule(f"surface{at % 20}.rule-{at}", verdicts[(at + number) % 10], text="A sentence. " * 12)
                    for at in range(400)
                ),
            ),
            day=f"2026-01-{number + 1:02}",
        )
        for number in range(13)
    ]
    path = written(tmp_path, *many)
    chromium.screen(1280)

    plain = tmp_path / "plain.html"
    cells = "<td>pass</td>" * 13
    rows = "".join(f"<tr><th>{'A sentence. ' * 12}<code>rule-{at}</code></th>{cells}</tr>" for at in range(400))
    plain.write_text(f"<!doctype html><title>plain</title><table>{rows}</table>")

    def spent(which: Path) -> float:
        before = chromium.worked()
        chromium.open(which)
        chromium.run(
            "new Promise(painted => requestAnimationFrame(() => requestAnimationFrame(painted))).then(() => 0)"
        )
        after = chromium.worked()
        return after - before if after > before else after  # Another page may be another process, which begins at none.

    assert merge([read(each) for each in many]).results >= 5000
    bare = min(spent(plain) for _ in range(3))
    # Where a bare table of the same texts takes long, the machine is slow, and the page has its time in proportion.
    assert min(spent(path) for _ in range(3)) < max(OPENS_WITHIN, SLOWER * bare)


def test_the_picture_of_a_trace_is_drawn_when_its_cell_opens(chromium: Browser, tmp_path: Path) -> None:
    failing = proof("a.x", Verdict.FAIL, trace="traces/mine--a.x.jsonl")
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "mine--a.x.jsonl").write_text('{"seq":1,"at":0.0,"kind":"turn.start","agent":"main"}\n')
    one = report(bridge("mine", rule("a.x", Verdict.FAIL, proofs=[failing])))
    (tmp_path / "conformance.json").write_bytes(msgspec.json.encode(one))
    path = tmp_path / "matrix.html"
    path.write_text(matrix_page(merge([read(one, str(tmp_path / "conformance.json"))])), encoding="utf-8")
    chromium.screen(1280)
    chromium.open(path)

    assert chromium.run("document.querySelectorAll('svg').length") == 0
    chromium.run("document.querySelector('td.c.fail').click()")

    assert chromium.run("document.querySelector('dialog[open] svg.bridge-sequence').getAttribute('role')") == "img"
