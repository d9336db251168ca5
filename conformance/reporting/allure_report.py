"""Turns Allure results into one HTML file that opens from disk and asks nobody for anything."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.drivers.driver import HarnessError
from conformance.drivers.node import find_node
from conformance.drivers.npm import PinnedSet, install
from conformance.reporting import allure
from conformance.reporting._spoken import clean
from conformance.reporting.files import shown, write_atomically

PINS = Path(__file__).parent / "allure3"
VERSION = "3.18.0"
"""The version of the npm package ``allure`` that the pins hold."""
SECONDS = 900.0
QUOTED_LINES = 8

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' data: blob:; style-src 'unsafe-inline' data:; "
    "img-src data: blob:; font-src data:; media-src data: blob:; connect-src data: blob:; frame-src data: blob:; "
    "worker-src data: blob:; form-action 'none'"
)
"""What the page may load: what it holds itself. It needs inline scripts, since everything is one file."""
TRACKER = re.compile(
    r'\s*<script async src="https://www\.googletagmanager\.com/[^"]*"></script>\s*<script>.*?</script>', re.DOTALL
)
"""Allure's own page tells a foreign server that it was opened; no option takes that out."""
PROGRAM = re.compile(r'<script\s+src="data:text/javascript;base64,')
DATA = re.compile(r"<script async>\s*window\.allureReportDataReady = .*</script>(?=\s*</body>)", re.DOTALL)
FOREIGN = re.compile(
    r"<(?:script|link|img|iframe|source|object|embed)\b[^>]*?(?:src|href|data)=[\"']?\s*(?:https?:)?//", re.I
)
HIDDEN = ("host", "thread", "framework", "language", "package", "parentSuite", "suite", "subSuite")
"""Labels for other readers of the results; the page shows the same by better names."""


class ResultsError(Exception):
    """What was given is no results; the message has a cause and a mend."""


@dataclass(frozen=True, slots=True)
class Made:
    """The page: where it lies, how many results it shows, and of which implementations."""

    path: Path
    results: int
    bridges: tuple[str, ...]


def make(folders: Sequence[Path], output: Path, say: Callable[[str], None] = lambda text: None) -> Made:
    """Write the page.

    Raises ``ResultsError`` where there are no results, and ``HarnessError`` where Node or Allure are not to be had.
    """
    say("reading the results")
    count, bridges = _read(folders)
    node = find_node()
    root = install(PinnedSet("allure", VERSION, PINS), npm=node.npm)
    say(f"Allure makes a page of {count} results")
    with tempfile.TemporaryDirectory(prefix="bridge-conformance-report-") as name:
        work = Path(name)
        beside = work / "beside"
        beside.mkdir()
        _beside(folders, beside)
        (work / "allurerc.mjs").write_text(config(bridges), encoding="utf-8")
        program = str(root / "node_modules" / "allure" / "cli.js")
        given = [str(folder.resolve()) for folder in folders]
        _run(
            [str(node.program), program, "generate", *given, str(beside), "--config", "allurerc.mjs", "-o", "out"], work
        )
        page = work / "out" / "index.html"
        if not page.is_file():
            raise HarnessError(
                f"Allure {VERSION} wrote no page", "give fewer results at once, a folder for each bridge"
            )
        say("writing the page")
        write_atomically(output, finished(page.read_text(encoding="utf-8")).encode())
    return Made(output, count, tuple(bridges))


def _read(folders: Iterable[Path]) -> tuple[int, list[str]]:
    count, bridges = 0, set()
    for folder in folders:
        found = sorted(folder.glob("*-result.json")) if folder.is_dir() else []
        if not found:
            raise ResultsError(
                f"{shown(folder)} holds no Allure results.\n"
                f"Mend: make them: pytest --pyargs conformance --bridge=reference --alluredir={shown(folder)}",
            )
        for path in found:
            try:
                labels = json.loads(path.read_bytes()).get("labels", [])
                bridges |= {label["value"] for label in labels if label["name"] == allure.BRIDGE}
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ResultsError(
                    f"{shown(path)} is no Allure result ({type(error).__name__}: {error}).\n"
                    "Mend: remove the file, or make the results anew with --clean-alluredir",
                ) from error
            count += 1
    return count, sorted(map(str, bridges))


def _beside(folders: Iterable[Path], target: Path) -> None:
    """Join what is there once in each folder: Allure would take one of several."""
    environment = ""
    for folder in folders:
        path = folder / allure.ENVIRONMENT_FILE
        if path.is_file():
            environment += path.read_text(encoding="utf-8", errors="replace")
    (target / allure.ENVIRONMENT_FILE).write_text(allure.environment_text({}, environment), encoding="utf-8")


def config(bridges: Iterable[str]) -> str:
    """The configuration of Allure: one environment for each bridge, grouped by surface and rule."""
    environments = ",\n".join(
        f"    bridge{number}: {{ name: {json.dumps(clean(label))}, matcher: ({{ labels }}) => "
        f"labels.some((each) => each.name === {json.dumps(allure.BRIDGE)} && each.value === {json.dumps(label)}) }}"
        for number, label in enumerate(bridges, 1)
    )
    awesome = {
        "reportName": "Conformance of Pi bridges",
        "singleFile": True,
        "reportLanguage": "en",
        "groupBy": ["feature", allure.RULE],
        "stepTreeExpansion": "expanded",
        "defaultSortBy": "order,asc",
    }
    return (
        "export default {\n"
        f"  name: {json.dumps(awesome['reportName'])},\n"
        f"  hideLabels: {json.dumps(HIDDEN)},\n"
        f"  environments: {{\n{environments}\n  }},\n"
        f"  categories: {json.dumps(allure.categories())},\n"
        f"  plugins: {{ awesome: {{ options: {json.dumps(awesome)} }} }},\n"
        "};\n"
    )


def finished(page: str) -> str:
    """The page without the script that reports to a foreign server, and forbidden to load anything from anywhere.

    Its data stand before its program: the program asks once for what it shows, and would wait for ever where a slow
    disk brings the data later.
    """
    page, found = TRACKER.subn("", page, count=1)
    head, data, program = re.search(r"<head[^>]*>", page), DATA.search(page), PROGRAM.search(page)
    if found != 1 or head is None or data is None or program is None or FOREIGN.search(page):
        raise HarnessError(
            f"the page of Allure is not the one of version {VERSION}: it may ask foreign servers for something",
            "install pi-bridge-conformance again; its pins say which Allure belongs to it",
        )
    policy = f'\n    <meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    before, between = page[head.end() : program.start()], page[program.start() : data.start()]
    return "".join((page[: head.end()], policy, before, data[0], "\n    ", between, page[data.end() :]))


def _run(command: list[str], cwd: Path) -> None:
    try:
        ended = subprocess.run(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise HarnessError(
            f"Allure {VERSION} made no page within {SECONDS:g} s",
            "give fewer results at once, a folder for each bridge",
        ) from error
    if ended.returncode != 0:
        said = [line for line in (ended.stderr + ended.stdout).splitlines() if line.strip()][:QUOTED_LINES]
        quoted = "\n    ".join(said) or "it said nothing"
        raise HarnessError(
            f"Allure {VERSION} made no page (exit status {ended.returncode}):\n    {quoted}",
            "make the results anew with --clean-alluredir; where it says the report is too large, give fewer at once",
        )
