"""The suite as a pytest plugin: loaded by the entry point once a bridge is given, and put together here."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from conformance import steps
from conformance._pytest import registries
from conformance._pytest.bridges import Bridge, Pool, taken_over
from conformance._pytest.controller import INPUT, Controller
from conformance._pytest.first_kill import FirstKill
from conformance._pytest.long_first import LongFirst
from conformance._pytest.lookup import Lookup
from conformance._pytest.plan import Plan, Selection, make_plan
from conformance._pytest.prober import Prober
from conformance._pytest.random_programs import Reached
from conformance._pytest.wiring import connections, meet
from conformance._pytest.worker import Worker
from conformance.catalogue import CatalogueError, UnknownNameError, check, compile_features, load_catalogue
from conformance.drivers.driver import HarnessError
from conformance.ledger import Ledger, LedgerError, load_ledger
from conformance.properties import SHARDS
from conformance.reporting import files
from conformance.stage import Stage

PLAN = pytest.StashKey[Plan]()
WORKER = pytest.StashKey[Worker]()
_plans: list[Plan] = []


def current_plan() -> Plan:
    """The plan of the run that is being collected: what the suite's modules make their tests from."""
    if not _plans:
        raise HarnessError(
            "the suite's modules were imported without a bridge",
            "type pytest --pyargs conformance --bridge=reference",
        )
    return _plans[-1]


def pytest_configure(config: pytest.Config) -> None:
    """Read the rules, pass the gate, shake hands, and set up what this process is for."""
    if sys.platform == "win32":
        raise pytest.UsageError(
            "the suite needs process groups and signals as Linux and macOS have them; use WSL here."
        )
    if not config.pluginmanager.hasplugin("pytest-bdd"):
        raise pytest.UsageError(
            "the suite needs the plugin pytest-bdd.\n"
            "Mend: drop -p no:pytest-bdd, and PYTEST_DISABLE_PLUGIN_AUTOLOAD from the environment."
        )
    examples = config.getoption("--bridge-examples")
    if examples is not None and examples < SHARDS:
        raise pytest.UsageError(
            f"--bridge-examples={examples} leaves a property without a program, and it would pass for nothing.\n"
            f"Mend: give {SHARDS} or more, or leave the properties out with -k 'not random_programs'."
        )
    _load_steps(config)
    is_worker = hasattr(config, "workerinput")
    try:
        plan = _plan(config, is_worker)
    except (CatalogueError, UnknownNameError, LedgerError) as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[PLAN] = plan
    _plans.append(plan)
    pool = Pool(connections(config))
    # The order matters: at the end of the session connections are closed before the report is written.
    worker = Worker(config, plan, pool)
    config.stash[WORKER] = worker
    if not plan.whole:
        config.pluginmanager.register(FirstKill(), "bridge_conformance_first_kill")
    elif is_worker:
        processes = config.workerinput["workercount"]  # type: ignore[attr-defined]
        config.pluginmanager.register(LongFirst(processes), "bridge_conformance_long_first")
    lookup = Lookup(worker.runs)
    lookup.install()
    config.add_cleanup(lookup.remove)
    config.pluginmanager.register(worker, "bridge_conformance_worker")
    prober = Prober(pool, config.getoption("--bridge-timeout"))
    config.pluginmanager.register(prober, "bridge_conformance_prober")
    if config.getoption("allure_report_dir", None):
        from conformance._pytest.allure_results import AllureResults  # Allure is loaded for nobody else.

        config.pluginmanager.register(AllureResults(config, plan), "bridge_conformance_allure")
    if not is_worker:
        controller = Controller(config, plan, files.folder(config.getoption("--bridge-report")))
        controller.tally.stderr = pool.stderr
        config.pluginmanager.register(controller, "bridge_conformance_controller")
        config.pluginmanager.register(Reached(), "bridge_conformance_programs")


def _load_steps(config: pytest.Config) -> None:
    """Register the steps as plugins of their own, so that a user's feature files can use them too.

    Not by ``pytest_plugins``: that comes after configuring, too late for the gate, and warns of modules that another
    one has imported.
    """
    for found in pkgutil.iter_modules(steps.__path__, f"{steps.__name__}."):
        if not found.name.rpartition(".")[2].startswith("_"):
            config.pluginmanager.register(import_module(found.name), found.name)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Forget the run."""
    if config.stash.get(PLAN, None) is not None and _plans:
        _plans.pop()


def _plan(config: pytest.Config, is_worker: bool) -> Plan:
    catalogue, features = load_catalogue(), compile_features()
    known = registries.registered()
    if is_worker:
        bridges = taken_over(config.workerinput[INPUT])  # type: ignore[attr-defined]
    else:
        # The gate is static and stands here: raised while collecting, it would be an internal error under xdist.
        problems = check(catalogue, features, **known)
        if problems:
            raise CatalogueError(problems)
        registries.refuse_async_steps()
        bridges = meet(config)
    return make_plan(
        catalogue,
        features,
        bridges,
        ledgers=_ledgers(config, bridges),
        selection=Selection(
            rules=tuple(config.getoption("--bridge-rule")),
            surfaces=tuple(config.getoption("--bridge-surface")),
            levels=tuple(config.getoption("--bridge-level")),
        ),
        properties=known["properties"],
        invariants=known["invariants"],
        whole=not config.getoption("--bridge-kills", False),
    )


def _ledgers(config: pytest.Config, bridges: list[Bridge]) -> dict[str, Ledger]:
    labels = [bridge.label for bridge in bridges]
    ledgers: dict[str, Ledger] = {}
    for given in config.getoption("--bridge-deviations"):
        label, equals, name = given.partition("=")
        path = Path(name if equals else given)
        ledger = load_ledger(config.invocation_params.dir / path, label if equals else None)
        if ledger.label not in labels:
            raise pytest.UsageError(
                f"the ledger {path} speaks of {ledger.label!r}, and this run judges {', '.join(labels)}.\n"
                f"Mend: give the bridge that label (--bridge={ledger.label}=…), or say whose ledger it is "
                f"(--bridge-deviations={labels[0]}={path})."
            )
        if ledger.label in ledgers:
            raise pytest.UsageError(f"two ledgers speak of {ledger.label!r}. Mend: make one of them.")
        ledgers[ledger.label] = ledger
    return ledgers


@pytest.fixture(scope="session")
def bridge(request: pytest.FixtureRequest) -> Bridge:
    """The implementation under test; every test that asks for it, or for a stage, runs once for each ``--bridge``."""
    bridges = request.config.stash[WORKER].bridges
    label = getattr(request, "param", None)
    if label is None:
        if len(bridges) > 1:
            raise pytest.UsageError(
                "this test was not made once for each bridge, and there are several.\n"
                'Mend: put `pytestmark = pytest.mark.usefixtures("stage")` into its module.'
            )
        label = next(iter(bridges))
    return bridges[label]


@pytest.fixture
def stage(request: pytest.FixtureRequest, bridge: Bridge) -> Iterator[Stage]:
    """One fresh host on the implementation under test, opened by the first step that needs it."""
    worker = request.config.stash[WORKER]
    made = worker.open_stage(request.node, bridge)
    yield made
    if worker.owns(request.node):
        made.close()
