"""The pytest plugin of pi-bridge-conformance: options only, until a bridge is given.

It loads in every pytest run of its environment, so it imports nothing; and it is not part of the package, because a
plugin inside a package called ``conformance`` breaks users who have a folder of that name.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

SUITE = "conformance"
DEFAULT = "bridge_conformance_default"
HOW = "pytest --pyargs conformance --bridge=reference"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--bridge`` and what goes with it; all but the one carry the prefix, since short names clash."""
    group = parser.getgroup("bridge conformance", "conformance of Pi bridges (--bridge loads the suite)")
    many = {"action": "append", "default": []}
    add = group.addoption
    add(
        "--bridge",
        **many,
        metavar="[LABEL=]SPEC",
        help="implementation to judge, repeatable: a NAME[@VERSION][?mount=…] (reference, pi, dsh, pi2dsh, or one that "
        "is registered), mutant:NAME, stdio:COMMAND, py:MODULE:FACTORY, replay:DIR, or a manifest file",
    )
    add("--bridge-rule", **many, metavar="ID", help="judge only these rules; repeatable, may hold *")
    add("--bridge-surface", **many, metavar="NAME", help="judge only the rules of these surfaces; repeatable, *")
    add("--bridge-level", **many, metavar="LEVEL", help="judge only rules of this level: must, should, may; repeatable")
    add("--bridge-timeout", type=float, metavar="SECONDS", help="request deadline: longest silence allowed (5)")
    add("--bridge-report", metavar="DIR", help="folder for conformance.json and what goes with it; 'none' for nowhere")
    add("--bridge-deviations", **many, metavar="[LABEL=]FILE", help="ledger of known deviations; repeatable")
    add("--bridge-against", metavar="SPEC", help="whose answers random programs are judged by: a SPEC, or a label")
    add("--bridge-examples", type=int, metavar="N", help="random programs a property tries")
    add("--bridge-seed", type=int, metavar="N", help="seed of the random programs")
    add("--bridge-record", metavar="DIR", help="keep every item's wire and trace there, for replay:DIR")
    add("--bridge-kills", action="store_true", help="ask of a mutant only the rules that say they kill it")
    add("--bridge-env", **many, metavar="NAME", help="environment variable that adapters may see; repeatable")
    parser.addini(DEFAULT, "bridge to judge when the suite's modules are named without --bridge", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Load the suite when a bridge is given; refuse the suite's modules when none is."""
    default = config.getini(DEFAULT)
    if config.getoption("--bridge") or (default and list(_reached(config))):
        if not config.getoption("--bridge"):
            config.option.bridge = [default]
        _load(config)
    elif any(_reached(config)):
        import pytest

        raise pytest.UsageError(
            "the suite's modules judge a bridge, and none is given.\n"
            f"Mend: type {HOW}   (or another bridge; pytest --help lists the forms),\n"
            f"or set the ini key {DEFAULT}."
        )


def _reached(config: pytest.Config) -> Iterator[bool]:
    """For each argument that leads to the suite: whether it names it (true), or a folder above it (false)."""
    from pathlib import Path  # pytest has loaded it; at the top it would be ours

    package = Path(__file__).resolve().parent / SUITE
    for argument in config.args:
        place = argument.split("::")[0]
        path = (_module(place) if config.getoption("pyargs") else None) or config.invocation_params.dir / place
        if path.exists():
            path = path.resolve()
            if path.is_relative_to(package):
                yield True
            elif package.is_relative_to(path):
                yield False


def _module(name: str) -> Path | None:
    if name.split(".")[0] != SUITE:
        return None
    from importlib.util import find_spec
    from pathlib import Path

    found = find_spec(SUITE)
    return Path(next(iter(found.submodule_search_locations))) if found and found.submodule_search_locations else None


def _load(config: pytest.Config) -> None:
    from pathlib import Path

    import pytest

    import conformance

    ours = Path(__file__).resolve().parent / SUITE / "__init__.py"
    found = getattr(conformance, "__file__", None)
    if found is None or Path(found).resolve() != ours:
        raise pytest.UsageError(
            f"another package called {SUITE} ({found or 'a folder without __init__.py'}) hides the suite ({ours}).\n"
            "Mend: run `bridge-conformance run` from another folder, or rename that package."
        )
    config.pluginmanager.import_plugin("conformance.plugin")
