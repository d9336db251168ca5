"""What ``--bridge`` takes, and what a user is told about what it does not take."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from conformance.drivers import specs
from conformance.drivers.backend import InProcessDriver
from conformance.drivers.driver import Driver
from conformance.drivers.specs import BridgeSpec, SpecError, make_driver, parse, parse_all
from conformance.drivers.stdio import StdioDriver
from conformance.mutants import load_mutants

MUTANT = min(load_mutants())


def refused(value: str, folder: Path | None = None) -> SpecError:
    """The error that a value meets."""
    with pytest.raises(SpecError) as caught:
        parse(value, folder)
    assert caught.value.cause
    assert caught.value.mend
    return caught.value


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """Entry points as another distribution would register them; to be filled by the test."""
    points: list[EntryPoint] = []
    monkeypatch.setattr(specs, "entry_points", lambda group: [p for p in points if p.group == group])
    return points


class TestNames:
    def test_a_name_takes_version_and_mount(self) -> None:
        spec = parse("pi@0.84.1?mount=engine")
        assert (spec.kind, spec.name, spec.version, spec.mount) == ("name", "pi", "0.84.1", "engine")

    def test_an_unknown_name_is_told_the_nearest_and_all_known(self) -> None:
        error = refused("referense")
        assert "referense" in error.cause
        assert "Did you mean reference?" in error.mend
        assert "pi2dsh" in error.mend

    def test_an_unknown_option_is_not_swallowed(self) -> None:
        assert "'mout'" in refused("reference?mout=engine").cause

    def test_an_option_said_twice_is_refused(self) -> None:
        assert "two" in refused("reference?mount=root&mount=engine").cause

    def test_the_reference_has_no_versions(self) -> None:
        assert "reference" in refused("reference@2").mend

    def test_an_empty_value_is_told_what_there_is(self) -> None:
        assert "reference" in refused("").mend
        assert "reference" in refused("mine=").mend

    def test_a_registered_name_makes_its_own_driver_and_takes_its_own_options(
        self, registered: list[EntryPoint]
    ) -> None:
        registered.append(EntryPoint("ours", f"{__name__}:ours", specs.GROUP))
        spec = parse("ours?colour=red")
        assert spec.options == {"colour": "red"}
        assert make_driver(spec).label == "made by ours: ours-colour-red"

    def test_a_registered_name_that_cannot_be_loaded_is_named(self, registered: list[EntryPoint]) -> None:
        registered.append(EntryPoint("theirs", "no_such_module_at_all:make", specs.GROUP))
        with pytest.raises(SpecError, match="theirs of no_such_module_at_all:make"):
            make_driver(parse("theirs"))


def ours(spec: BridgeSpec) -> Driver:
    """A factory as another distribution would register it."""
    return InProcessDriver(f"made by ours: {spec.label}", lambda suite: NotImplemented)


class TestLabels:
    @pytest.mark.parametrize(
        ("value", "label"),
        [
            ("reference", "reference"),
            ("mine=reference", "mine"),
            ("reference?mount=engine", "reference-mount-engine"),
            ("mine=reference?mount=engine", "mine"),
            ("stdio:node ../a b.mjs --x=1", "stdio-node-..-a-b.mjs---x-1"),
            (f"mutant:{MUTANT}", f"mutant-{MUTANT}"),
            ("py:my.module:make", "py-my.module-make"),
        ],
    )
    def test_every_label_is_safe_as_a_file_name(self, value: str, label: str) -> None:
        assert parse(value).label == label

    def test_a_label_does_not_depend_on_what_else_is_named(self) -> None:
        both = parse_all(["reference?mount=root", "reference?mount=engine"])
        assert [spec.label for spec in both] == ["reference-mount-root", "reference-mount-engine"]

    def test_equal_labels_are_shown_how_to_differ(self) -> None:
        with pytest.raises(SpecError) as caught:
            parse_all(["reference", "reference"])
        assert "--bridge=first=reference --bridge=second=reference" in caught.value.mend

    def test_labels_that_one_file_system_takes_for_equal_are_refused(self) -> None:
        with pytest.raises(SpecError, match="told apart"):
            parse_all(["a=reference", "A=reference"])

    @pytest.mark.parametrize("value", ["my label=reference", "=reference", ".hidden=reference", "-x=reference"])
    def test_a_label_that_names_no_file_is_refused(self, value: str) -> None:
        assert "label" in refused(value).cause

    @pytest.mark.parametrize("value", ["../up=reference", "a/b=reference"])
    def test_a_label_with_a_path_never_names_a_folder(self, value: str) -> None:
        refused(value)


class TestCommands:
    def test_a_command_is_split_like_words_of_a_shell_and_runs_where_the_user_is(self, tmp_path: Path) -> None:
        spec = parse("mine=stdio:node 'my adapter.mjs' --a=b $HOME;ls", tmp_path)
        assert spec.argv == ("node", "my adapter.mjs", "--a=b", "$HOME;ls")
        assert spec.cwd == tmp_path.resolve()
        driver = make_driver(spec)
        assert isinstance(driver, StdioDriver)
        assert driver.argv == spec.argv

    def test_an_open_quote_is_named(self) -> None:
        assert "quot" in refused("stdio:node 'x").cause

    def test_a_missing_command_is_named(self) -> None:
        assert "no command" in refused("stdio: ").cause


class TestFactories:
    def test_a_factory_is_called_in_process(self) -> None:
        driver = make_driver(parse("mine=py:tests.fast.test_bridge_specs:backend?mount=engine"))
        assert isinstance(driver, InProcessDriver)
        assert driver.label == "mine"

    @pytest.mark.parametrize("value", ["py:module", "py::make", "py:a.b:", "py:a b:c", "py:a:b:c"])
    def test_what_is_not_module_and_factory_is_refused(self, value: str) -> None:
        assert "MODULE:FACTORY" in refused(value).cause

    @pytest.mark.parametrize(
        ("name", "word"),
        [
            ("no_such_module_at_all:make", "no_such_module_at_all"),
            ("tests.fast.test_bridge_specs:gone", "gone"),
            ("tests.fast.test_bridge_specs:MUTANT", "cannot be called"),
            ("explodes:make", "ZeroDivisionError"),
        ],
    )
    def test_a_factory_that_is_not_there_is_named(
        self, name: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "explodes.py").write_text("1 / 0\n")
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(SpecError, match=word):
            make_driver(parse(f"py:{name}"))
        sys.modules.pop("explodes", None)


def backend(suite: object) -> object:
    """A factory of nothing, for the driver that is never started."""
    return suite


class TestMutants:
    def test_a_mutant_is_the_reference_with_a_mount(self) -> None:
        spec = parse(f"mutant:{MUTANT}?mount=engine")
        assert (spec.kind, spec.name, spec.mount) == ("mutant", MUTANT, "engine")
        assert isinstance(make_driver(spec), InProcessDriver)

    def test_an_unknown_mutant_is_told_near_ones(self) -> None:
        assert MUTANT in refused(f"mutant:{MUTANT}s").mend


class TestManifests:
    def test_a_manifest_says_everything_and_paths_are_its_own(self, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        (tmp_path / "ours.yaml").write_text(
            "label: Our bridge\ncommand: [node, adapter.mjs]\nmount: engine\nenv: {DEBUG: '1'}\ncwd: sub\n"
        )
        spec = parse("ours.yaml", tmp_path)
        assert spec.label == "Our-bridge"
        assert (spec.kind, spec.argv, spec.mount, spec.env) == (
            "stdio",
            ("node", "adapter.mjs"),
            "engine",
            {"DEBUG": "1"},
        )
        assert spec.cwd == (tmp_path / "sub").resolve()

    def test_the_label_of_the_command_line_wins_and_the_file_name_is_the_last_resort(self, tmp_path: Path) -> None:
        (tmp_path / "ours.json").write_text('{"command": "node adapter.mjs"}')
        assert parse("mine=ours.json", tmp_path).label == "mine"
        assert parse("ours.json", tmp_path).label == "ours"
        assert parse("ours.json", tmp_path).argv == ("node", "adapter.mjs")
        assert parse("ours.json", tmp_path).cwd == tmp_path.resolve()

    def test_a_manifest_whose_name_holds_an_equals_sign_is_found(self, tmp_path: Path) -> None:
        (tmp_path / "a=b.yaml").write_text("command: cat")
        assert parse("a=b.yaml", tmp_path).argv == ("cat",)

    @pytest.mark.parametrize(
        ("content", "word"),
        [
            ("label: x", "command"),
            ("[]", "object"),
            ("command: ''", "empty"),
            ("command: []", "empty"),
            ("command: 5", "command"),
            ("command: cat\nenv: [A]", "env"),
            ("command: cat\nmount: 1", "mount"),
            ("command: cat\ncwd: nowhere", "nowhere"),
            ("command: cat\ncolour: red", "colour"),
            ('command: "cat \'x"', "quot"),
            ("{", "neither JSON nor YAML"),
        ],
    )
    def test_a_manifest_that_says_something_else_is_named(self, content: str, word: str, tmp_path: Path) -> None:
        (tmp_path / "bad.yaml").write_text(content)
        error = refused("bad.yaml", tmp_path)
        assert word in error.cause
        assert "bad.yaml" in error.cause

    def test_a_manifest_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        assert "gone.yaml" in refused("./gone.yaml", tmp_path).cause
