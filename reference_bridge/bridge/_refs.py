"""Where a `$ref` of a tool's schema leads."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote, urldefrag, urljoin

_UNNAMED = "http://unknown/"


def resolve(root: dict[str, object], base: dict[str, object], ref: str) -> object:
    """The schema `ref` names, or None.

    `base` is the innermost enclosing schema with an `$id`, else `root`; a bare fragment is looked up from there. A
    pointer that leads nowhere from the top is tried from every schema below it, where the last success counts.
    """
    start = base if ref.startswith("#") else root
    start_url = _url_of(start, _UNNAMED)
    return _find(start, start_url, urljoin(start_url, ref) + ("#" if ref.endswith("#") else ""))


def _url_of(schema: dict[str, object], base_url: str) -> str:
    name = schema.get("$id")
    return urljoin(base_url, name) if isinstance(name, str) else base_url


def _find(node: object, base_url: str, wanted: str) -> object:
    if isinstance(node, dict):
        base_url = _url_of(node, base_url)
        found = _match(node, base_url, wanted)
        if found is not None:
            return found
    last: object = None
    for child in _children(node):
        found = _find(child, base_url, wanted)
        last = last if found is None else found
    return last


def _children(node: object) -> Iterator[object]:
    if isinstance(node, dict):
        yield from node.values()
    elif isinstance(node, list):
        yield from node


def _match(schema: dict[str, object], base_url: str, wanted: str) -> object:
    url, fragment = urldefrag(wanted)
    name = schema.get("$id")
    if isinstance(name, str):
        if fragment and name == f"#{fragment}":
            return schema
        if urldefrag(urljoin(base_url, name))[0] == url and not fragment:
            return schema
    for keyword in ("$anchor", "$dynamicAnchor"):
        if fragment and schema.get(keyword) == fragment and urldefrag(base_url)[0] == url:
            return schema
    if wanted.endswith("#"):
        return schema
    fragment = unquote(fragment)
    return _pointer(schema, fragment) if fragment.startswith("/") else None


def _pointer(schema: object, pointer: str) -> object:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, dict):
            schema = schema.get(key)
        elif isinstance(schema, list) and key.isascii() and key.isdigit() and int(key) < len(schema):
            schema = schema[int(key)]
        else:
            return None
    return schema
