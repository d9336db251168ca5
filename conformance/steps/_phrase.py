"""How a step's phrase is written: quoted words, JSON values and counts, matched exactly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import yaml
from pytest_bdd import parsers

from conformance.compare import written_out
from conformance.drivers.driver import HarnessError

EVENTS = (
    "tool_execution_start|tool_execution_update|tool_execution_end|tool_call|tool_result|user_bash|before_agent_start"
)
METHODS = r"registerTool|unregisterTool|exec|getActiveTools|getAllTools|setActiveTools|on|ui\.confirm"

_KINDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "json": (r"\[.*\]|\{.*\}|\"[^\"]*\"|-?\d[\d.eE+-]*|true|false|null", lambda text: written_out(json.loads(text))),
    "int": (r"\d+", int),
    "request": (r"request \d+|the last request", lambda words: int(words.split()[-1]) if words[-1].isdigit() else 0),
    "event": (EVENTS, str),
    "method": (METHODS, str),
    "word": (r"\S+", str),
}
_SAFE: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The C parser takes a tenth of the time; where PyYAML was built without it, the Python one reads the same."""
_FIELD = re.compile(r'"\{(\w+)\}"|\{(\w+):(\w+)\}')


def phrase(text: str) -> parsers.StepParser:
    """Return the parser of a phrase.

    ``"{name}"`` matches a quoted text without quotes in it, ``{name:json}`` a JSON value with its ``repeat``
    tags written out, ``{name:int}`` a count,
    ``{name:request}`` the words "request 2" or "the last request", which is number 0,
    ``{name:event}`` one of Pi's six events or the one
    before a prompt's first request, ``{name:method}`` a method of the Pi API or
    of ``ctx``, and ``{name:word}`` a bare word.
    """
    pattern, at = "", 0
    converters: dict[str, Callable[[str], Any]] = {}
    for found in _FIELD.finditer(text):
        pattern += re.escape(text[at : found.start()]).replace(r"\ ", " ")
        at = found.end()
        if found[1]:
            pattern += f'"(?P<{found[1]}>[^"]*)"'
        else:
            expression, convert = _KINDS[found[3]]
            pattern += f"(?P<{found[2]}>{expression})"
            converters[found[2]] = convert
    pattern += re.escape(text[at:]).replace(r"\ ", " ")
    return _Phrase(text, re.compile(pattern), converters)


class _Phrase(parsers.StepParser):
    """A compiled phrase, with a converter for each field that is not a text."""

    def __init__(self, name: str, pattern: re.Pattern[str], converters: dict[str, Callable[[str], Any]]) -> None:
        super().__init__(name)
        self.pattern = pattern
        self._converters = converters

    def parse_arguments(self, name: str) -> dict[str, Any] | None:
        found = self.pattern.fullmatch(name)
        if found is None:
            return None
        return {key: self._converters.get(key, str)(value) for key, value in found.groupdict().items()}

    def is_matching(self, name: str) -> bool:
        return self.pattern.fullmatch(name) is not None


def document(text: str, what: str = "the doc string of this step") -> Any:
    """Return the value of a text written as YAML (or JSON, which is YAML), with its ``repeat`` tags as text."""
    try:
        return written_out(yaml.load(text, Loader=_SAFE))
    except yaml.YAMLError as error:
        raise HarnessError(f"{what} is not YAML: {error}", "mend the feature file") from error


def rows(datatable: list[list[str]], *columns: str, optional: tuple[str, ...] = ()) -> list[dict[str, str]]:
    """Return a data table as one mapping a row. Raises :class:`HarnessError` on missing or unknown columns."""
    head, *body = datatable
    wrong = [name for name in columns if name not in head] + [
        name for name in head if name not in columns and name not in optional
    ]
    if wrong:
        raise HarnessError(
            f"the table of this step has the columns {', '.join(head)}",
            f"it needs {', '.join(columns)}" + (f" and may have {', '.join(optional)}" if optional else ""),
        )
    return [dict(zip(head, row, strict=True)) for row in body]
