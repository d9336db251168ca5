"""The page that Allure makes of results, in a real browser: it opens from disk, tells the rules, and asks nobody."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slow import small_browser
from tests.slow.small_browser import CHROMIUM, Browser, browser
from tests.slow.small_checkout import DEAF, TESTS, TINY, SmallCheckout

SECONDS = 240.0
"""Allure's page is a program of three megabytes: a busy machine takes a while to begin it."""
RULES = "--allure-link-pattern=rule:https://rules.example/{}"
ODD = "<img src=x onerror='document.title = 1'>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two runs, each with a folder of its own, of implementations that call themselves something odd."""
    folder = tmp_path_factory.mktemp("page")
    checkout = SmallCheckout(folder / "checkout")
    checkout.replace("tests/fakes/tiny_bridge.py", 'name="tiny"', f"name={ODD!r}")
    for label, spec in {"tiny": TINY, "deaf": DEAF}.items():
        checkout.run(f"--bridge={label}={spec}", f"--alluredir={folder / label}", RULES)
    page = folder / "page" / "conformance.html"
    made = checkout.command("report", str(folder / "tiny"), str(folder / "deaf"), f"--output={page}")
    assert made.status == 0, made.out
    assert f"{page}: {2 * TESTS} results of deaf, tiny" in made.out
    return page


def test_the_page_is_one_file_that_names_no_foreign_server(page: Path) -> None:
    assert [path.name for path in page.parent.iterdir()] == ["conformance.html"]
    assert "googletagmanager" not in page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def opened(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The page in a browser, its tree of results shown."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with pytest.MonkeyPatch.context() as patience, browser(tmp_path_factory.mktemp("profile")) as found:
        patience.setattr(small_browser, "DEADLINE", SECONDS)
        found.screen(1280)
        found.open(page)
        wait(found, "document.body.innerText.includes('tool_call.a-block-holds')")
        yield found


def wait(found: Browser, condition: str) -> None:
    until = time.monotonic() + SECONDS
    while not found.run(condition):
        assert time.monotonic() < until, found.run("document.body.innerText")
        found.run("new Promise((done) => setTimeout(done, 50))")


def click(found: Browser, text: str) -> None:
    found.run(
        "[...document.querySelectorAll('*')].filter((each) => each.childElementCount === 0 && "
        f"each.textContent.trim() === {text!r}).at(-1).click()"
    )


def test_it_shows_each_bridge_with_surfaces_and_rules(opened: Browser) -> None:
    text = str(opened.run("document.body.innerText"))

    assert 'Environment: "tiny"' in text
    assert 'Environment: "deaf"' in text
    assert ODD in text
    for name in ("tool_call", "user_bash", "tool_call.a-block-holds", "tool_call.a-block-may-hold"):
        assert name in text.splitlines()


def test_a_failure_shows_steps_rule_and_picture(opened: Browser) -> None:
    click(opened, "it must")
    wait(opened, "document.body.innerText.includes('Then the tool \"write_note\" does not run')")
    text = str(opened.run("document.body.innerText"))
    assert "A blocked tool does not run." in text or "A blocked tool does not run." in str(
        opened.run("[...document.querySelectorAll('iframe')].map((each) => each.srcdoc).join()")
    )

    links = opened.run("[...document.querySelectorAll('a')].map((each) => each.href)")
    assert "https://rules.example/tool_call.a-block-holds" in links

    click(opened, "sequence diagram")
    wait(
        opened,
        "[...document.querySelectorAll('img')].some((each) => each.naturalWidth > 500) || "
        "document.querySelector('svg.bridge-sequence') !== null",
    )


def test_it_asks_nobody_for_anything(opened: Browser, page: Path) -> None:
    foreign = [each for each in opened.requests if not each.startswith(("data:", "blob:", page.as_uri(), "about:"))]

    assert foreign == []
    assert not [each for each in opened.said if "Content Security Policy" in each]
    assert opened.run("document.title") != "1"
