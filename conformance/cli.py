"""The command ``bridge-conformance``: dispatch only; each command lives beside what it does."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib import import_module

from conformance import __version__
from conformance.catalogue.problems import did_you_mean, near

PROGRAM = "bridge-conformance"


@dataclass(frozen=True, slots=True)
class Command:
    """``does`` is one line for the help, ``where`` is MODULE:FUNCTION, which takes arguments and returns a status."""

    does: str
    where: str


COMMANDS: dict[str, Command] = {
    "run": Command("judge one bridge or several, and write ./reports/", "conformance.commands.run:main"),
    "doctor": Command(
        "check that an implementation can be talked to, before any verdict", "conformance.commands.doctor:main"
    ),
    "new-driver": Command(
        "write a skeleton of a driver, in Python or for Node", "conformance.commands.new_driver:main"
    ),
    "explain": Command(
        "print a rule whole: its sentence, why it holds, what proves it", "conformance.commands.explain:main"
    ),
    "trace": Command("draw a trace that a run has kept as a sequence diagram", "conformance.commands.trace:main"),
    "ledger": Command("write the start of a ledger of known deviations", "conformance.commands.ledger:main"),
    "matrix": Command("put reports beside each other, as one page", "conformance.reporting.matrix:main"),
    "compare": Command("say what became of verdicts between two reports", "conformance.reporting.compared:main"),
    "report": Command("make one HTML page of Allure results", "conformance.commands.report:main"),
    "spec": Command("check the rules, and write what is generated from them", "conformance.commands.spec:main"),
    "replay": Command("run kept programs on an implementation", "conformance.programs.replay:main"),
    "rejudge": Command("judge recorded stages by the rules as they are now", "conformance.transcripts.rejudge:main"),
    "mutants": Command("prove that the proofs can fail: every named defect is caught", "conformance.mutants.gate:main"),
    "bench": Command("measure what the suite itself costs", "conformance.commands.bench:main"),
    "serve": Command("serve an in-process bridge over standard input and output", "conformance.commands.serve:main"),
}
"""Every command, in the order of the help. Modules are imported when their command is given."""


def usage() -> str:
    """The help of the whole program."""
    width = max(map(len, COMMANDS))
    return "\n".join(
        [
            f"usage: {PROGRAM} COMMAND [ARGUMENTS]",
            "",
            "Judges bridges: programs that run Pi extension packages on another agent host.",
            "",
            *(f"  {name:<{width}}  {command.does}" for name, command in COMMANDS.items()),
            "",
            f"Each command explains itself: {PROGRAM} COMMAND --help",
            f"Begin with:                   {PROGRAM} run --bridge=reference",
        ]
    )


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status; 4 for a command that is not there, 141 where nobody reads on."""
    try:
        status = _run(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # As after "| head": what is left goes nowhere, also what the interpreter itself still writes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return status


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    name, *rest = arguments
    if name in ("-V", "--version"):
        print(f"{PROGRAM} {__version__}")
        return 0
    if sys.platform == "win32":
        print(
            f"{PROGRAM} needs process groups and signals as Linux and macOS have them; use WSL here.", file=sys.stderr
        )
        return 4
    command = COMMANDS.get(name)
    if command is None:
        hint = did_you_mean(near(name, COMMANDS))
        print(f"no command is called {name!r}{hint}\n\n{usage()}", file=sys.stderr)
        return 4
    module, _, function = command.where.partition(":")
    return int(getattr(import_module(module), function)(rest))


if __name__ == "__main__":
    sys.exit(main())
