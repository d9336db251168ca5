"""Recognises a valid document fast, so that jsonschema is paid for only where something is wrong.

jsonschema builds a validator for each value it visits: half a second for 250 rules, in every worker of a run. Here the
schema becomes one predicate. It knows the keywords that our schemas use; whatever it does not know, it leaves to
jsonschema, which also finds the words for everything that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Test = Callable[[Any], bool]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
}
_REMARKS = frozenset({"$schema", "$id", "$defs", "$comment", "title", "description", "mend", "then", "else"})


class _UnsureError(Exception):
    """The schema or the value holds something these predicates do not decide."""


def surely(schema: dict[str, Any]) -> Test:
    """A predicate that is True only for values that satisfy ``schema``.

    It is False for those that do not, and where only jsonschema can tell.
    """
    try:
        test = _Compiler(schema).test(schema)
    except _UnsureError:
        return lambda value: False

    def decide(value: Any) -> bool:
        try:
            return test(value)
        except _UnsureError:
            return False

    return decide


class _Compiler:
    """Turns the parts of one schema into predicates; each definition is compiled once."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._definitions = root.get("$defs", {})
        self._compiled: dict[str, Test] = {}

    def test(self, schema: Any) -> Test:
        if isinstance(schema, bool):
            return lambda value: schema
        tests = [self._keyword(name, limit, schema) for name, limit in schema.items() if name not in _REMARKS]
        if len(tests) == 1:
            return tests[0]

        def every(value: Any) -> bool:
            return all(test(value) for test in tests)

        return every

    def _keyword(self, name: str, limit: Any, schema: dict[str, Any]) -> Test:
        match name:
            case "type" if isinstance(limit, str) and limit in _TYPES:
                kinds = _TYPES[limit]
                return lambda value: type(value) in kinds
            case "$ref":
                return self._definition(limit)
            case "properties":
                return self._properties(limit)
            case "additionalProperties":
                return self._additional(limit, frozenset(schema.get("properties", ())))
            case "items":
                each = self.test(limit)
                return lambda value: type(value) is not list or all(map(each, value))
            case "contains":
                some = self.test(limit)
                return lambda value: type(value) is not list or any(map(some, value))
            case "allOf":
                tests = [self.test(part) for part in limit]
                return lambda value: all(test(value) for test in tests)
            case "not":
                wrong = self.test(limit)
                return lambda value: not wrong(value)
            case "if":
                asked, yes, no = (
                    self.test(part) for part in (limit, schema.get("then", True), schema.get("else", True))
                )
                return lambda value: (yes if asked(value) else no)(value)
            case "required":
                names = frozenset(limit)
                return lambda value: type(value) is not dict or names <= value.keys()
            case "enum" | "const":
                wanted = [(type(each), each) for each in (limit if name == "enum" else [limit])]
                return lambda value: (type(value), value) in wanted
            case "pattern":
                search = re.compile(limit).search
                return lambda value: type(value) is not str or search(value) is not None
            case "uniqueItems" if limit is True:
                return _unique
            case "minLength":
                return lambda value: type(value) is not str or len(value) >= limit
            case "minItems":
                return lambda value: type(value) is not list or len(value) >= limit
            case "minProperties":
                return lambda value: type(value) is not dict or len(value) >= limit
            case "maxProperties":
                return lambda value: type(value) is not dict or len(value) <= limit
            case "minimum":
                return lambda value: type(value) not in (int, float) or value >= limit
            case "exclusiveMinimum":
                return lambda value: type(value) not in (int, float) or value > limit
        raise _UnsureError(name)

    def _definition(self, reference: str) -> Test:
        name = reference.removeprefix("#/$defs/")
        if name not in self._definitions:
            raise _UnsureError(reference)
        if name not in self._compiled:
            self._compiled[name] = _undecided  # What a definition that holds itself would find.
            self._compiled[name] = self.test(self._definitions[name])
        return self._compiled[name]

    def _properties(self, parts: dict[str, Any]) -> Test:
        tests = {name: self.test(part) for name, part in parts.items()}

        def properties(value: Any) -> bool:
            if type(value) is dict:
                for name, item in value.items():
                    test = tests.get(name)
                    if test is not None and not test(item):
                        return False
            return True

        return properties

    def _additional(self, part: Any, known: frozenset[str]) -> Test:
        if part is False:
            return lambda value: type(value) is not dict or value.keys() <= known
        test = self.test(part)
        return lambda value: type(value) is not dict or all(test(value[name]) for name in value.keys() - known)


def _undecided(value: Any) -> bool:
    raise _UnsureError("$ref")


def _unique(value: Any) -> bool:
    if type(value) is not list:
        return True
    if any(type(item) is not str for item in value):
        raise _UnsureError("uniqueItems")
    return len(set(value)) == len(value)
