"""What allure-pytest alone gets to show: steps, rules, verdicts and traces; and nothing where nobody asked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.slow.small_checkout import BARE, CLUMSY, DEAF, TESTS, TINY, SmallCheckout

LEDGER = """\
bridge: known
deviations:
  - {rule: tool_call.a-block-holds, reason: "no blocks yet", added: 2020-01-01, expires: 2099-01-01}
"""
TABLE_STEPS = """
  @rule:tool_call.a-block-holds @case:with-a-table
  Scenario: a table and a doc string
    Given a table
      | name | text      |
      | a    | one, two  |
    And a text
      \"\"\"
      first
      second
      \"\"\"
    Then nothing is wrong
"""
STEPS = """
from pytest_bdd import given, then

@given("a table")
def table(datatable):
    assert datatable[1] == ["a", "one, two"]

@given("a text")
def text(docstring):
    assert docstring.split() == ["first", "second"]

@then("nothing is wrong")
def nothing_is_wrong():
    pass
"""


@dataclass(frozen=True)
class Results:
    """The folder of one run."""

    folder: Path

    @property
    def all(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(self.folder.glob("*-result.json"))]

    def of(self, label: str, item: str) -> dict[str, Any]:
        """The one result of a test on a bridge."""
        found = [
            each for each in self.all if labels(each, "bridge") == [label] and each["fullName"].endswith(f" {item}")
        ]
        assert len(found) == 1, [each["fullName"] for each in self.all]
        return found[0]

    def attached(self, owner: dict[str, Any], name: str) -> str:
        """The text of an attachment."""
        sources = [each["source"] for each in owner.get("attachments", []) if each["name"] == name]
        assert len(sources) == 1, owner.get("attachments")
        return (self.folder / sources[0]).read_text(encoding="utf-8")


def labels(result: dict[str, Any], name: str) -> list[str]:
    return [label["value"] for label in result["labels"] if label["name"] == name]


def told(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(step["name"], step["status"]) for step in result["steps"]]


@pytest.fixture(scope="module", params=["one process", "two workers"])
def results(sound: SmallCheckout, tmp_path_factory: pytest.TempPathFactory, request: Any) -> Results:
    folder = tmp_path_factory.mktemp("allure")
    ledger = folder / "ledger.yaml"
    ledger.write_text(LEDGER)
    bridges = {"tiny": TINY, "deaf": DEAF, "bare": BARE, "clumsy": CLUMSY, "known": DEAF}
    ran = sound.run(
        *(f"--bridge={label}={spec}" for label, spec in bridges.items()),
        f"--bridge-deviations={ledger}",
        f"--alluredir={folder / 'results'}",
        *(["-n2"] if request.param == "two workers" else []),
    )
    assert ran.status == 1, ran.out
    return Results(folder / "results")


def test_every_test_of_every_bridge_has_one_result(results: Results) -> None:
    assert len(results.all) == 5 * TESTS
    assert len({each["historyId"] for each in results.all}) == 5 * TESTS
    assert not list(results.folder.glob("*-container.json"))


def test_a_result_speaks_of_its_rule(results: Results) -> None:
    result = results.of("tiny", "tool_call.a-block-holds--twice")

    assert result["name"] == "it must, twice"
    assert result["status"] == "passed"
    assert {name: labels(result, name) for name in ("epic", "feature", "story", "rule", "severity", "verdict")} == {
        "epic": ["tools"],
        "feature": ["tool_call"],
        "story": ["tool_call.a-block-holds"],
        "rule": ["tool_call.a-block-holds"],
        "severity": ["critical"],
        "verdict": ["pass"],
    }
    assert result["links"] == [
        {"type": "rule", "name": "tool_call.a-block-holds", "url": "matrix.html#r-tool_call.a-block-holds"}
    ]
    assert "A blocked tool does not run." in result["description"]
    assert str(results.folder.parent.parent) not in json.dumps(result)


def test_steps_are_told_in_the_words_of_the_scenario(results: Results) -> None:
    assert told(results.of("tiny", "tool_call.a-block-holds")) == [
        ('Given a package "notes" with the tool "write_note"', "passed"),
        ('And package "guard" blocks "write_note" with the reason "closed"', "passed"),
        ('When the model calls "write_note"', "passed"),
        ('Then the tool "write_note" does not run', "passed"),
    ]


def test_a_background_and_the_cells_of_an_outline_are_told_too(results: Results) -> None:
    result = results.of("tiny", "user_bash.never-fires--2")

    assert [name for name, _ in told(result)][:3] == [
        'Given a package "history" with the tool "recall"',
        'And package "history" listens to user_bash',
        'When the user says "!!ls"',
    ]
    assert {"name": "prompt", "value": "!!ls"} in result["parameters"]
    assert result["name"] == "a prompt (!!ls)"


def test_a_failure_names_its_step_and_shows_the_trace(results: Results) -> None:
    result = results.of("deaf", "tool_call.a-block-holds")

    assert result["status"] == "failed"
    assert told(result)[-1] == ('Then the tool "write_note" does not run', "failed")
    assert result["statusDetails"]["message"].startswith("fail: expected")
    for each in (result, results.of("deaf", "tool_call.a-block-holds--twice")):
        assert "rule:     A blocked tool does not run." in each["statusDetails"]["trace"]
        assert "bridge-conformance run --bridge=deaf=" in each["statusDetails"]["trace"]
    picture = ElementTree.fromstring(results.attached(result, "sequence diagram"))
    assert "write_note" in "".join(picture.itertext())
    assert "tool.enter" in results.attached(result, "trace")


def test_steps_that_were_not_reached_are_shown_as_skipped(results: Results) -> None:
    result = results.of("bare", "tool_call.natives-keep-their-arguments")

    assert result["status"] == "skipped"
    assert result["statusDetails"]["message"] == "unsupported: not declared: native-tools"
    assert {status for _, status in told(result)} == {"skipped"}
    assert len(told(result)) == 4


def test_a_departure_passes_and_says_so(results: Results) -> None:
    result = results.of("deaf", "tool_call.a-block-should-hold")

    assert (result["status"], labels(result, "severity"), labels(result, "tag")) == ("passed", ["normal"], ["departs"])
    assert result["statusDetails"]["message"].startswith("departs: ")
    assert told(result)[-1][1] == "failed"
    assert results.attached(result, "sequence diagram")


def test_a_deviation_is_marked_as_such(results: Results) -> None:
    result = results.of("known", "tool_call.a-block-holds")

    assert result["status"] == "skipped"
    assert result["statusDetails"]["known"] is True
    assert result["statusDetails"]["message"].startswith("deviation: no blocks yet (")
    assert labels(result, "tag") == ["deviation"]
    assert labels(result, "deviation")


def test_a_harness_error_is_broken_and_not_failed(results: Results) -> None:
    result = results.of("clumsy", "tool_call.a-block-holds")

    assert result["status"] == "broken"
    assert result["statusDetails"]["message"].startswith("harness error: ")
    assert "ZeroDivisionError" in result["statusDetails"]["trace"]


def test_the_run_is_described_and_sorted_into_categories(results: Results) -> None:
    environment = (results.folder / "environment.properties").read_text()
    categories = json.loads((results.folder / "categories.json").read_text())

    assert "bridge.tiny = tiny 1, role bridge" in environment
    assert "spec = version 1, digest " in environment
    assert [each["name"].split(":")[0] for each in categories][:2] == ["fail", "absent"]
    messages = [each["statusDetails"]["message"] for each in results.all if "statusDetails" in each]
    regexes = [each["messageRegex"] for each in categories]
    assert messages
    assert all(any(message.startswith(regex[1:].split("[")[0]) for regex in regexes) for message in messages)


def test_tables_and_doc_strings_are_attached_to_their_steps(checkout: SmallCheckout, tmp_path: Path) -> None:
    checkout.append("features/tools/tool_call.feature", TABLE_STEPS)
    checkout.write("conformance/steps/small.py", STEPS)

    ran = checkout.run(f"--bridge=tiny={TINY}", f"--alluredir={tmp_path}", "--bridge-rule=*--with-a-table")

    assert "1 passed" in ran.out
    results = Results(tmp_path)
    table, text, _ = results.of("tiny", "tool_call.a-block-holds--with-a-table")["steps"]
    assert results.attached(table, "table") == 'name,text\na,"one, two"\n'
    assert results.attached(text, "doc string") == "first\nsecond"


def test_vectors_and_a_users_own_scenarios_stand_beside_them(checkout: SmallCheckout, tmp_path: Path) -> None:
    folder = checkout.write(
        "mine/mine.feature", 'Feature: mine\n  Scenario: my own\n    Given a package "a" with the tool "b"\n'
    ).parent
    checkout.write(
        "mine/test_mine.py",
        "from pathlib import Path\nfrom pytest_bdd import scenarios\n"
        "scenarios(str(Path(__file__).with_name('mine.feature')))\n\ndef test_plain():\n    pass\n",
    )

    ran = checkout.run(f"--bridge=tiny={TINY}", f"--alluredir={tmp_path}", str(folder))

    assert ran.status == 0, ran.out
    own = {each["name"]: each for each in Results(tmp_path).all}
    assert set(own) == {"my own", "test_plain"}
    assert told(own["my own"]) == [('Given a package "a" with the tool "b"', "passed")]


def test_a_test_whose_process_dies_has_a_result(checkout: SmallCheckout, tmp_path: Path) -> None:
    checkout.append(
        "tests/fakes/tiny_bridge.py",
        "\n\nclass DyingBridge(TinyBridge):\n    async def handle(self, message):\n"
        "        import os\n        if type(message) is StageOpen:\n            os._exit(9)\n"
        "        return await super().handle(message)\n",
    )

    ran = checkout.run(
        "--bridge=dying=py:tests.fakes.tiny_bridge:DyingBridge",
        f"--alluredir={tmp_path}",
        "--bridge-rule=tool_call.a-block-holds--twice",
        "-n1",
    )

    assert ran.status == 3, ran.out
    result = Results(tmp_path).of("dying", "tool_call.a-block-holds--twice")
    assert result["status"] == "broken"
    assert "the process that ran this test died" in result["statusDetails"]["message"]


def test_words_that_no_file_can_hold_do_not_break_the_run(checkout: SmallCheckout, tmp_path: Path) -> None:
    checkout.write(
        "conformance/steps/small.py",
        "from pytest_bdd import given\nfrom conformance.verdicts import RuleFailed\n\n"
        "@given('something odd')\ndef odd():\n    raise RuleFailed('a lone \\ud800 surrogate')\n",
    )
    checkout.append(
        "features/tools/tool_call.feature",
        "\n  @rule:tool_call.a-block-holds @case:odd\n  Scenario: odd\n    Given something odd\n",
    )

    ran = checkout.run(
        f"--bridge=tiny={TINY}", f"--alluredir={tmp_path}", "--bridge-rule=*--odd", "--bridge-report=none"
    )

    assert "INTERNALERROR" not in ran.out, ran.out
    assert Results(tmp_path).of("tiny", "tool_call.a-block-holds--odd")["status"] == "failed"


def test_allure_costs_nothing_where_nobody_asks_for_it(sound: SmallCheckout) -> None:
    code = (
        "import sys, pytest; status = pytest.main(sys.argv[1:]); "
        "print('LOADED', sorted(name for name in sys.modules if 'allure' in name)); sys.exit(status)"
    )

    ran = sound.python(
        "-c", code, "-p", "bridge_conformance_pytest", "-p", "no:allure_pytest", f"--bridge=tiny={TINY}", "-q"
    )

    assert ran.status == 0, ran.out
    assert "LOADED []" in ran.out


def test_a_property_of_several_rules_stands_once_and_tells_each(checkout: SmallCheckout, tmp_path: Path) -> None:
    rules = ("tool_call.a-block-holds", "user_bash.never-fires")
    checkout.append("conformance/properties.py", f"\nPROPERTIES = MappingProxyType({{'test_two_rules': {rules}}})\n")
    checkout.write("conformance/suite/test_properties.py", "def test_two_rules(bridge):\n    pass\n")

    ran = checkout.run(f"--bridge=tiny={TINY}", f"--alluredir={tmp_path}", "conformance/suite/test_properties.py")

    assert "1 passed" in ran.out, ran.out
    result = Results(tmp_path).of("tiny", "two_rules")
    assert result["name"] == "property: two rules"
    assert labels(result, "story") == [link["name"] for link in result["links"]] == list(rules)
    assert labels(result, "feature") == labels(result, "rule") == ["several rules at once"]
    assert "A blocked tool does not run." in result["description"]
    assert "It never fires." in result["description"]
