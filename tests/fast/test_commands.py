"""The command explains itself, and hands what it is given to the right place."""

from __future__ import annotations

import pytest

import bridge_conformance_pytest
from conformance import cli
from conformance.commands.run import REPEATED, SINGLE, pytest_arguments


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0

    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in cli.COMMANDS)


def test_an_unknown_command_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serv"]) == 4
    assert "no command is called 'serv'; did you mean serve?" in capsys.readouterr().err


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main([name, "--help"])

    assert stop.value.code == 0
    assert f"usage: bridge-conformance {name}" in capsys.readouterr().out


def test_run_knows_every_option_of_the_plugin_but_that_of_the_kill_gate(pytestconfig: pytest.Config) -> None:
    parser = pytest.Parser(_ispytest=True)
    bridge_conformance_pytest.pytest_addoption(parser)
    plugin = {name for group in parser._groups for option in group.options for name in option.names()}

    assert {f"--bridge-{name}" for name in {*REPEATED, *SINGLE} - {"bridge"}} | {"--bridge"} == plugin - {
        "--bridge-kills"
    }


def test_run_hands_its_options_to_pytest() -> None:
    given = ["--bridge=pi", "--bridge=a=reference", "--rule=tool_call.*", "--timeout=2", "--", "-n", "2"]

    arguments = pytest_arguments(given)

    for option in ("--bridge=pi", "--bridge=a=reference", "--bridge-rule=tool_call.*", "--bridge-timeout=2"):
        assert option in arguments
    assert "--bridge-report=reports" in arguments
    assert arguments[-2:] == ["-n", "2"]


@pytest.mark.parametrize("given", [[], ["--rule=x"], ["--bridge=pi", "--nonsense"], ["--bridge=pi", "tool_call"]])
def test_wrong_use_of_run_is_exit_status_four(given: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        pytest_arguments(given)

    assert stop.value.code == 4


def test_explain_prints_near_names_for_an_unknown_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "tool_call.a-block-keeps-the-tool-from-runing"]) == 4
    assert "did you mean tool_call.a-block-keeps-the-tool-from-running" in capsys.readouterr().err


def test_serve_refuses_what_is_a_program_already(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", "--bridge=stdio:cat"]) == 4
    assert "is a program of its own already" in capsys.readouterr().err
