"""Keeps the ids of released rules: what ledgers, reports and other people's notes name must go on meaning one rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.catalogue._files import write_atomically
from conformance.catalogue.model import Catalogue
from conformance.catalogue.problems import CatalogueError, Problem, did_you_mean, near

FILE = "released.txt"
RELEASE = "bridge-conformance spec release"

Version = tuple[int, int]
"""Version and revision of the rules."""

HEAD = f"""\
# Every rule id that a release of the rules has had; `{RELEASE}` adds to it, and no line is ever taken out.
# A line is `release VERSION.REVISION`, the id of a rule, or `ID gone VERSION` for a rule that was given up in that
# version: its id never names another one.
"""
_LINE = re.compile(
    r"release (?P<version>\d+)\.(?P<revision>\d+)|(?P<id>[A-Za-z_][\w-]*\.[a-z0-9-]+)( gone (?P<gone>\d+))?"
)


@dataclass(frozen=True, slots=True)
class Released:
    """``ids`` maps every id there ever was to the version in which it went, None while it is a rule.

    ``lines`` are the lines of the file by id.
    """

    releases: tuple[Version, ...] = ()
    ids: Mapping[str, int | None] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def latest(self) -> Version | None:
        """The newest release, if there was one."""
        return max(self.releases, default=None)


def load_released(spec: Path) -> Released:
    """Read ``released.txt`` of a spec folder; nothing is released where it is missing. Raises CatalogueError."""
    file = f"{spec.name}/{FILE}"
    try:
        text = (spec / FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return Released()
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogueError(
            [Problem(file, 0, f"the file cannot be read ({error})", "take it back from git")]
        ) from None
    releases: list[Version] = []
    ids: dict[str, int | None] = {}
    lines: dict[str, int] = {}
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None:
            mend = "write `release 1.0`, the id of a rule, or `ID gone 2`"
            problems.append(Problem(file, number, f"{line.strip()!r} is no line of this file", mend))
        elif found["version"]:
            releases.append((int(found["version"]), int(found["revision"])))
        elif found["id"] in ids:
            what = f"{found['id']} already stands at line {lines[found['id']]}"
            problems.append(Problem(file, number, what, "keep one of the two lines"))
        else:
            ids[found["id"]] = int(found["gone"]) if found["gone"] else None
            lines[found["id"]] = number
    if problems:
        raise CatalogueError(problems)
    return Released(tuple(releases), ids, lines)


def check_released(catalogue: Catalogue, released: Released | None = None) -> Iterator[Problem]:
    """Released ids that are no rule any more and not given up either, and given-up ones that are used again."""
    try:
        known = load_released(catalogue.root) if released is None else released
    except CatalogueError as error:
        yield from error.problems
        return
    file = f"{catalogue.root.name}/{FILE}"
    for name, gone in known.ids.items():
        line = known.lines.get(name, 0)
        rule = catalogue.by_id.get(name)
        if gone is None and rule is None:
            guess = did_you_mean(near(name, catalogue.by_id)).rstrip("?")
            mend = (
                f"take the rule back{guess}; or, to give it up, write `{name} gone {catalogue.version}` here, raise "
                "the version in index.yaml, and give what follows it an id of its own"
            )
            yield Problem(file, line, f"the released rule {name} is no longer there", mend)
        elif gone is not None and rule is not None:
            what = f"{name} was given up in version {gone}, and a rule at {rule.where} has its id"
            yield Problem(
                file, line, what, "give the rule another id: ledgers and reports know this one as another rule"
            )
        elif gone is not None and gone > catalogue.version:
            what = f"{name} goes in version {gone}, and the rules are at {catalogue.version}"
            yield Problem(file, line, what, f"write gone {catalogue.version}, or raise the version in index.yaml")


def release(catalogue: Catalogue) -> bool:
    """Note a release of the rules as they are: their version and the ids that are new. True where the file changed.

    Raises CatalogueError while a released id is misused, or where this version was released with other rules.
    """
    known = load_released(catalogue.root)
    if problems := list(check_released(catalogue, known)):
        raise CatalogueError(problems)
    version = (catalogue.version, catalogue.revision)
    new = [rule.id for rule in catalogue.rules if rule.id not in known.ids]
    file = f"{catalogue.root.name}/{FILE}"
    if known.latest is not None and (version < known.latest or (version == known.latest and new)):
        what = f"the rules are at {_shown(version)}, and {_shown(known.latest)} is released"
        mend = "raise version or revision in index.yaml; `bridge-conformance spec diff` says which"
        raise CatalogueError([Problem(file, 0, what, mend)])
    if version == known.latest:
        return False
    path = catalogue.root / FILE
    text = path.read_text(encoding="utf-8") if path.exists() else HEAD
    return write_atomically(path, "".join([text, f"release {_shown(version)}\n", *(f"{name}\n" for name in new)]))


def _shown(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
