"""Writes a skeleton of a driver that can be talked to from the first minute and says that it can do nothing yet."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from pathlib import Path

from conformance.drivers.driver import HarnessError
from conformance.drivers.node import find_node

HERE = Path(__file__).resolve().parent.parent
TEMPLATES = HERE / "templates"
LIBRARY = HERE / "adapters" / "lib"
MAIN = {"python": "driver.py", "node": "adapter.mjs"}
"""The file to be filled in, by language."""


class Occupied(Exception):
    """The folder cannot be used; the text says why, and what to do."""


def main(argv: list[str]) -> int:
    """Write the skeleton and say what to type next; 4 where it cannot be written."""
    parsing = argparse.ArgumentParser(
        prog="bridge-conformance new-driver",
        description="Write a skeleton of a driver: doctor finds nothing wrong with it, and every rule is unsupported.",
    )
    parsing.add_argument("language", choices=MAIN, help="python: a class, served by the suite; node: a program")
    parsing.add_argument("dir", type=Path, metavar="DIR", help="a folder that is not there yet, or is empty")
    try:
        given = parsing.parse_args(argv)
    except SystemExit as stop:
        raise SystemExit(4 if stop.code else 0) from None
    try:
        written = write(given.language, given.dir)
    except Occupied as error:
        print(error, file=sys.stderr)
        return 4
    except OSError as error:
        print(f"{given.dir} cannot be written: {error}\nMend: name a folder that you may write.", file=sys.stderr)
        return 4
    print("\n".join(f"wrote {given.dir / name}" for name in written))
    manifest = given.dir / "bridge.yaml"
    print(f"\nNow type:\n  bridge-conformance doctor --bridge={manifest}")
    print(f"  bridge-conformance run --bridge={manifest} --surface=tool_call")
    print(f"Then fill in {given.dir / MAIN[given.language]}; docs/writing-a-driver.md says what first.")
    return 0


def write(language: str, folder: Path) -> list[str]:
    """Write the skeleton of a language into an empty or new folder, and return its files' names.

    Raises :class:`Occupied`.
    """
    if folder.exists() and not folder.is_dir():
        raise Occupied(f"{folder} is a file.\nMend: name a folder that is not there yet.")
    if folder.is_dir() and any(folder.iterdir()):
        raise Occupied(f"{folder} is not empty, and nothing in it is overwritten.\nMend: name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    words = {"@NAME@": _name(folder), "@MAIN@": MAIN[language]}
    words |= {"@PYTHON@": json.dumps(sys.executable), "@NODE@": json.dumps(_node() if language == "node" else "node")}
    written = []
    for template in sorted((TEMPLATES / language).iterdir()):
        if not template.is_file():
            continue
        text = template.read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        (folder / template.name).write_text(text, encoding="utf-8")
        written.append(template.name)
    if language == "node":
        (folder / "lib").mkdir()
        for module in sorted(LIBRARY.glob("*.mjs")):
            shutil.copyfile(module, folder / "lib" / module.name)
        written.append("lib/")
    return written


def _name(folder: Path) -> str:
    """A name from the folder's that is safe in code, YAML and file names."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", folder.resolve().name).strip("-_")
    return plain if plain[:1].isalpha() else f"driver-{plain}".rstrip("-")


def _node() -> str:
    """The Node that the suite itself would use, or ``node`` where none was found."""
    try:
        return str(find_node().program)
    except HarnessError:
        return "node"
