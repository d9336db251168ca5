"""The page of Allure results: what goes into it, what is taken out of it, and what it says where it cannot be made."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.drivers.driver import HarnessError
from conformance.reporting import allure
from conformance.reporting.allure_report import PINS, POLICY, VERSION, config, finished
from conformance.verdicts import TABLE, Verdict

TRACKED = """<!doctype html>
<html>
<head><meta charset="utf-8"></head>
<body>
    <script  src="data:text/javascript;base64,aGVsbG8="></script>
    <script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script>
    <script>
        window.dataLayer = [];
    </script>
    <script async>
        window.allureReportDataReady = false;
    </script>
    <script defer>d("widgets/tree.json", "aGVsbG8=")</script>
</body>
</html>
"""


def test_the_script_that_reports_to_a_foreign_server_is_taken_out_and_no_other() -> None:
    page = finished(TRACKED)

    assert "googletagmanager" not in page
    assert "dataLayer" not in page
    assert 'd("widgets/tree.json", "aGVsbG8=")' in page
    assert page.count("<script") == 3


def test_the_data_stand_before_the_program_that_asks_for_them_once() -> None:
    page = finished(TRACKED)

    assert page.index("allureReportDataReady") < page.index("tree.json") < page.index("data:text/javascript")
    assert page.rstrip().endswith("</body>\n</html>")


def test_the_page_is_forbidden_to_load_anything_from_anywhere() -> None:
    assert f'<head>\n    <meta http-equiv="Content-Security-Policy" content="{POLICY}">' in finished(TRACKED)
    assert not re.search(r"https?:|\*|'self'", POLICY)


@pytest.mark.parametrize(
    "page",
    [
        TRACKED.replace("googletagmanager", "elsewhere"),
        TRACKED.replace("<head>", '<head><link rel="stylesheet" href="https://fonts.example/x.css">'),
        TRACKED.replace("<body>", "<body><img src=//pixel.example/x>"),
        TRACKED.replace("<head>", "").replace("</head>", ""),
        TRACKED.replace("allureReportDataReady", "elsewhere"),
        TRACKED.replace("data:text/javascript", "data:text/plain"),
    ],
    ids=["another tracker", "a style sheet", "a picture", "no head", "no data", "no program"],
)
def test_a_page_that_is_not_the_known_one_is_refused(page: str) -> None:
    with pytest.raises(HarnessError, match="is not the one of version"):
        finished(page)


def test_each_bridge_is_an_environment_whatever_its_label() -> None:
    odd = 'it\'s `${1}` "quoted"\u2028</script>'

    text = config(["plain", odd])

    names = re.findall(r'name: (".*?(?<!\\)"), matcher', text)
    values = re.findall(r'each\.value === (".*?(?<!\\)")\)', text)
    assert [json.loads(value) for value in values] == ["plain", odd]
    assert json.loads(names[0]) == "plain"
    assert '"groupBy": ["feature", "rule"]' in text


def test_the_pins_hold_the_version_that_is_named() -> None:
    assert json.loads((PINS / "package.json").read_text())["dependencies"] == {"allure": VERSION}


# --- what results are made of -----------------------------------------------------------------------------------------


def test_every_verdict_that_is_no_plain_pass_has_a_category() -> None:
    known = {str(each["name"]).split(":")[0]: each["matchedStatuses"] for each in allure.categories()}

    assert known == {
        str(verdict): [row.allure] for verdict, row in TABLE.items() if row.allure != "none" and verdict != Verdict.PASS
    }


def test_a_category_takes_the_messages_of_its_verdict_only() -> None:
    messages = {str(verdict): f"{verdict}: over\ntwo lines" for verdict in TABLE}

    for each in allure.categories():
        mine = str(each["name"]).split(":")[0]
        found = {name for name, message in messages.items() if re.search(str(each["messageRegex"]), message)}
        assert found == {mine}


def test_runs_into_one_folder_keep_each_others_environment() -> None:
    first = allure.environment_text({"bridge.pi": "Pi 0.84.1", "spec": "version 1"})

    assert allure.environment_text({"bridge.mine": "mine 2", "spec": "version 2"}, first) == (
        "bridge.mine = mine 2\nbridge.pi = Pi 0.84.1\nspec = version 2\n"
    )


def test_what_an_implementation_calls_itself_stays_one_line_of_the_environment() -> None:
    text = allure.environment_text({"bridge.a b=c": "one\ntwo = three\u202e"})

    assert text == "bridge.a_b_c = one⏎two = three\\u{202e}\n".replace("\\u", "/u")
    assert allure.environment_text({}, text) == text


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_folder_without_results_is_named_with_the_command_that_makes_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path)]) == 4
    said = capsys.readouterr().err
    assert "holds no Allure results" in said
    assert f"--alluredir={tmp_path}" in said


@pytest.mark.parametrize("content", ["", "[]", "{", '{"labels": 7}', '{"labels": [1]}'])
def test_a_file_that_is_no_result_is_named(tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a-result.json").write_text(content)

    assert main(["report", str(tmp_path)]) == 4
    assert "a-result.json is no Allure result" in capsys.readouterr().err


def test_a_page_that_cannot_be_made_is_the_harness_and_not_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a-result.json").write_text('{"labels": [{"name": "bridge", "value": "mine"}]}')
    monkeypatch.setenv("BRIDGE_CONFORMANCE_NODE", str(tmp_path / "no-node"))

    assert main(["report", str(tmp_path)]) == 3
    assert "BRIDGE_CONFORMANCE_NODE names" in capsys.readouterr().err
