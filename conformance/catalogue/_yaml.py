"""Reads YAML into JSON values and keeps every position, so that a complaint can name its line.

Scalars follow the JSON part of YAML 1.2: ``on``, ``yes`` and ``1:30`` are plain text, which PyYAML's own YAML 1.1 rules
would turn into a boolean and a number. Tags and duplicate keys are errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from conformance.catalogue.problems import Problem

if TYPE_CHECKING:
    from yaml import SafeLoader as _Base
else:
    # The C parser is about eight times as fast; where PyYAML was built without it, the Python one reads the same.
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][-+]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_PLAIN = "plain"
_QUOTED = "quoted"
_NUMBER_STARTS = frozenset("-0123456789")


class _Loader(_Base):
    """The safe loader, with the meaning of a scalar left to ``_value``."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        if kind is not yaml.ScalarNode:
            return _PLAIN
        return _PLAIN if implicit[0] else _QUOTED


@dataclass(frozen=True, slots=True)
class Text:
    """One parsed file: its JSON ``value`` and the node tree that remembers where each part stands."""

    file: str
    value: Any
    node: yaml.Node

    def line(self, path: Iterable[str | int] = (), *, key: str | None = None) -> int:
        """Line of the value at ``path``, or of its key ``key``; where there is none, of the nearest ancestor."""
        node = self.node
        line: int = node.start_mark.line + 1
        for part in path:
            found = _child(node, part)
            if found is None:
                return line
            line, node = found
        if key is not None and (found := _child(node, key)) is not None:
            return found[0]
        return line


def read(path: Path, file: str) -> tuple[Text | None, list[Problem]]:
    """Parse ``path``, shown as ``file``. No value where the text is not one YAML document of JSON values."""
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        mend = "create the file, or take its name out of the list that names it"
        return None, [Problem(file, 0, f"the file cannot be read ({error.strerror})", mend)]
    except UnicodeDecodeError:
        return None, [Problem(file, 0, "the file is not UTF-8", "save it as UTF-8")]
    loader = _Loader(source)
    try:
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        return None, [_not_yaml(file, error)]
    finally:
        loader.dispose()
    if node is None:
        return None, [Problem(file, 1, "the file is empty", "write its fields, or delete it and its mention")]
    problems: list[Problem] = []
    value = _value(node, file, problems, set())
    return (None, problems) if problems else (Text(file, value, node), [])


def _not_yaml(file: str, error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return Problem(
        file,
        mark.line + 1 if mark else 1,
        f"this is not YAML ({said})",
        "correct the indentation, or put quotes around a text that holds ': ', ' #' or starts with a sign",
    )


def _child(node: yaml.Node, part: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        item = node.value[part]
        return item.start_mark.line + 1, item
    return None


def _value(node: yaml.Node, file: str, problems: list[Problem], open_nodes: set[int]) -> Any:
    tag = node.tag
    if tag is not _PLAIN and tag is not _QUOTED:
        line = node.start_mark.line + 1
        problems.append(Problem(file, line, f"the tag {tag} is not used in rule files", "write a plain JSON value"))
        return None
    if isinstance(node, yaml.ScalarNode):
        return node.value if tag is _QUOTED else _plain(node.value)
    if id(node) in open_nodes:
        problems.append(Problem(file, node.start_mark.line + 1, "an alias holds itself", "write the value out"))
        return None
    open_nodes.add(id(node))
    result: Any
    if isinstance(node, yaml.SequenceNode):
        result = [_value(item, file, problems, open_nodes) for item in node.value]
    else:
        result = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                problems.append(Problem(file, line, "a key is a list or a mapping", "write the key as a text"))
                continue
            key = key_node.value
            if key in result:
                problems.append(Problem(file, line, f"the key `{key}` stands here twice", "keep one of the two"))
            result[key] = _value(value_node, file, problems, open_nodes)
    open_nodes.discard(id(node))
    return result


def _plain(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMBER_STARTS and (match := _NUMBER.fullmatch(text)):
        return float(text) if match["fraction"] or match["exponent"] else int(text)
    return text
