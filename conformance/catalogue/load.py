"""Loads ``spec/`` into a Catalogue, or says everything that keeps it from being one.

The form of a file is the JSON Schema's business; here stand only the checks that need more than one place: names that
must agree, names that must be unique, and files that must belong to something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from conformance import resources
from conformance.catalogue._schema import Checker, load_schema
from conformance.catalogue._yaml import Text, read
from conformance.catalogue.model import Catalogue, Deadline, Document, Evidence, Rule, Source, Surface, VectorRow
from conformance.catalogue.problems import CatalogueError, Problem, did_you_mean, either, near
from conformance.catalogue.vectors import COMMON, VECTOR_KINDS

INDEX = "index.yaml"


def load_catalogue(spec: Path | None = None, schemas: Path | None = None) -> Catalogue:
    """Read the rules in the folder ``spec`` (by default the project's own).

    ``schemas`` is a spec folder whose ``schema/`` is used instead, for a spec that has none of its own. Raises
    CatalogueError with every problem in every file.
    """
    root = resources.spec_dir() if spec is None else spec
    loader = _Loader(root, schemas or (root if (root / "schema").is_dir() else resources.spec_dir()))
    catalogue = loader.catalogue()
    if loader.problems or catalogue is None:
        raise CatalogueError(loader.problems)
    return catalogue


@dataclass
class _Loader:
    root: Path
    schemas: Path
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        surface = load_schema(self.schemas, "surface")
        self._index_form = Checker(load_schema(self.schemas, "index"))
        self._surface_form = Checker(surface)
        self._rows_form = Checker(surface, "rows")
        self._row_files: dict[str, Text | None] = {}

    def catalogue(self) -> Catalogue | None:
        index = self._read(INDEX, self._index_form)
        if index is None:
            return None
        documents = tuple(
            Document(name, entry["title"], tuple(entry["anchors"])) for name, entry in index.value["documents"].items()
        )
        surfaces = []
        whole = True
        for group in ("surfaces", "seams"):
            for position, name in enumerate(index.value[group]):
                if not (self.root / name).is_file():
                    self._report(
                        index, (group, position), f"the file {name} is not there", "write it, or drop the line"
                    )
                elif (text := self._read(name, self._surface_form)) is not None:
                    surfaces.append(_surface(text, name, self._vectors(text, name)))
                    self._check_surface(text, name, documents, index.value["version"])
                else:
                    whole = False
        self._check_unique(surfaces)
        self._check_orphans(index, whole)
        revision = index.value.get("revision", 0)
        return Catalogue(index.value["version"], documents, tuple(surfaces), self.root, revision)

    def _read(self, name: str, form: Checker) -> Text | None:
        text, problems = read(self.root / name, self._label(name))
        if text is not None:
            problems = form.problems(text)
        self.problems += problems
        return None if problems else text

    def _label(self, name: str) -> str:
        return f"{self.root.name}/{name}"

    def _report(self, text: Text, path: Iterable[str | int], what: str, mend: str, key: str | None = None) -> None:
        self.problems.append(Problem(text.file, text.line(path, key=key), what, mend))

    def _check_surface(self, text: Text, name: str, documents: tuple[Document, ...], version: int) -> None:
        surface = text.value["surface"]
        stem = PurePosixPath(name).stem
        if surface != stem:
            self._report(
                text, ["surface"], f"the surface `{surface}` stands in a file called {stem}.yaml", "give both one name"
            )
        seam = text.value["kind"] == "seam"
        if seam != name.startswith("host/"):
            self._report(
                text,
                ["kind"],
                f"a file of the kind {text.value['kind']} stands under {name.split('/')[0]}/",
                "keep seams in host/ and surfaces in tools/",
            )
        self._check_source(text, ["source"], text.value["source"], documents)
        for position, rule in enumerate(text.value["rules"]):
            path: list[str | int] = ["rules", position]
            prefix = rule["id"].split(".")[0]
            if prefix != surface:
                self._report(
                    text,
                    [*path, "id"],
                    f"the rule {rule['id']} stands in the file of {surface}",
                    f"call it {surface}.{rule['id'].split('.')[1]}, or move it",
                )
            if rule["since"] > version:
                self._report(
                    text,
                    [*path, "since"],
                    f"the rule is from spec version {rule['since']}, and the spec is at {version}",
                    f"write since: {version}, or raise the version in {self._label(INDEX)}",
                )
            if "source" in rule:
                self._check_source(text, [*path, "source"], rule["source"], documents)

    def _check_source(
        self, text: Text, path: list[str | int], source: dict[str, str], documents: tuple[Document, ...]
    ) -> None:
        anchors = {document.name: document.anchors for document in documents}
        index = self._label(INDEX)
        if source["document"] not in anchors:
            self._report(
                text,
                [*path, "document"],
                f"no document is called `{source['document']}`{did_you_mean(near(source['document'], anchors))}",
                f"name one of {index}: {either(anchors)}",
            )
        elif source["anchor"] not in (known := anchors[source["document"]]):
            self._report(
                text,
                [*path, "anchor"],
                f"the document `{source['document']}` has no anchor `{source['anchor']}`"
                f"{did_you_mean(near(source['anchor'], known))}",
                f"correct it, or add the anchor to {index}",
            )

    def _check_unique(self, surfaces: list[Surface]) -> None:
        seen: dict[str, str] = {}
        for surface in surfaces:
            # A surface and a seam of one name would share rule ids.
            for name, line in [(surface.name, 1), *((rule.id, rule.line) for rule in surface.rules)]:
                if name in seen:
                    what = f"`{name}` is already defined at {seen[name]}"
                    self.problems.append(Problem(surface.file, line, what, "rename one of the two"))
                else:
                    seen[name] = f"{surface.file}:{line}"

    def _check_orphans(self, index: Text, whole: bool) -> None:
        # Where a rule file could not be read (``whole`` is false), nobody knows which vector files it names.
        listed = {*index.value["surfaces"], *index.value["seams"]}
        for folder in ("tools", "host"):
            for path in sorted((self.root / folder).rglob("*.y*ml")):
                name = path.relative_to(self.root).as_posix()
                if name not in listed and name not in self._row_files:
                    vectors = "/vectors/" in name
                    if vectors and not whole:
                        continue
                    what = "no rule names this file" if vectors else f"{self._label(INDEX)} does not list this file"
                    mend = "name it in a rule's vectors" if vectors else "add it to the list"
                    self.problems.append(Problem(self._label(name), 1, what, f"{mend}, or delete it"))

    def _vectors(self, text: Text, name: str) -> dict[str, tuple[VectorRow, ...]]:
        found = {}
        for position, rule in enumerate(text.value["rules"]):
            if "vectors" in rule:
                found[rule["id"]] = tuple(self._rows(text, name, rule, position))
        return found

    def _rows(self, text: Text, name: str, rule: dict[str, Any], position: int) -> Iterator[VectorRow]:
        given = rule["vectors"]
        kind = given["kind"]
        place: list[str | int] = ["rules", position, "vectors"]
        if kind not in VECTOR_KINDS:
            what = f"no kind of vectors is called `{kind}`{did_you_mean(near(kind, VECTOR_KINDS))}"
            self._report(text, [*place, "kind"], what, f"write {either(VECTOR_KINDS)}")
            return
        holder: Text | None = text
        rows = given.get("rows")
        base: list[str | int] = [*place, "rows"]
        if rows is None:
            # A vector file stands beside the rule file's folder, and more than one rule may draw on it.
            file = str(PurePosixPath(name).parent / given["file"])
            if not (self.root / file).is_file():
                self._report(
                    text, [*place, "file"], f"the file {given['file']} is not there", "write it, or correct the name"
                )
                return
            if file not in self._row_files:
                self._row_files[file] = self._read(file, self._rows_form)
            holder, base = self._row_files[file], []
            if holder is None:
                return
            rows = holder.value
        assert holder is not None
        seen: set[str] = set()
        for number, row in enumerate(rows):
            path = [*base, number]
            self._check_row(holder, path, row, kind, rule, seen)
            values = {key: value for key, value in row.items() if key not in COMMON}
            yield VectorRow(row["case"], kind, values, row.get("on"), holder.file, holder.line(path))

    def _check_row(
        self, text: Text, path: list[str | int], row: dict[str, Any], kind: str, rule: dict[str, Any], seen: set[str]
    ) -> None:
        form = VECTOR_KINDS[kind]
        case = row["case"]
        if case in seen:
            self._report(text, path, f"the rule {rule['id']} has two rows called `{case}`", "rename one", "case")
        seen.add(case)
        for missing in sorted(form.required - row.keys()):
            self._report(text, path, f"`{missing}` is missing in the {kind} row `{case}`", "add it")
        for extra in sorted(row.keys() - form.required - form.optional - COMMON):
            fields = either(sorted((form.required | form.optional | COMMON) - row.keys()))
            self._report(
                text, path, f"`{extra}` is not a field of {kind} rows", f"drop it, or write one of {fields}", extra
            )
        if rule["relation"] == "differs" and "on" not in row:
            what = f"the row `{case}` belongs to {rule['id']}, which differs from Pi, and names no side"
            self._report(text, path, what, "add on: pi or on: bridge")
        if rule["relation"] != "differs" and "on" in row:
            what = f"the row `{case}` names a side, and {rule['id']} has none (relation {rule['relation']})"
            self._report(text, path, what, "drop on, or make the rule differ", "on")


def _surface(text: Text, name: str, vectors: dict[str, tuple[VectorRow, ...]]) -> Surface:
    value = text.value
    return Surface(
        name=value["surface"],
        kind=value["kind"],
        status=value.get("status"),
        summary=value["summary"],
        carried_by=value["carried_by"],
        source=Source(**value["source"]),
        path=str(PurePosixPath(name).with_suffix("")),
        file=text.file,
        rules=tuple(
            _rule(value, rule, text.file, text.line(["rules", position]), vectors.get(rule["id"], ()))
            for position, rule in enumerate(value["rules"])
        ),
    )


def _rule(surface: dict[str, Any], rule: dict[str, Any], file: str, line: int, rows: tuple[VectorRow, ...]) -> Rule:
    return Rule(
        id=rule["id"],
        surface=surface["surface"],
        level=rule["level"],
        relation=rule["relation"],
        text=rule["text"],
        source=Source(**rule.get("source", surface["source"])),
        evidence=tuple(Evidence(**entry) for entry in rule["evidence"]),
        needs=tuple(rule["needs"]),
        kills=tuple(rule["kills"]),
        since=rule["since"],
        file=file,
        line=line,
        on_pi=rule.get("on_pi"),
        because=rule.get("because"),
        interpretation=rule.get("interpretation"),
        refusal=rule["expects"]["refusal"] if "expects" in rule else None,
        mounts=tuple(rule.get("mounts", ())),
        deadline=Deadline(**rule["deadline"]) if "deadline" in rule else None,
        editorial=rule.get("editorial"),
        vectors=rows,
    )
