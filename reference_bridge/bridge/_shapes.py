"""What the value of a schema keyword must look like; a keyword of another form means nothing, as in Pi 0.84.1."""

from __future__ import annotations


def is_schema(value: object) -> bool:
    return isinstance(value, dict | bool)


def is_schema_list(value: object) -> bool:
    return isinstance(value, list) and all(map(is_schema, value))


def is_schema_map(value: object) -> bool:
    return isinstance(value, dict) and all(map(is_schema, value.values()))


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_text_list(value: object) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def is_text_list_map(value: object) -> bool:
    return isinstance(value, dict) and all(map(is_text_list, value.values()))


def is_type(value: object) -> bool:
    return is_text(value) or is_text_list(value)


def is_items(value: object) -> bool:
    return is_schema(value) or is_schema_list(value)


def is_dependencies(value: object) -> bool:
    return isinstance(value, dict) and all(is_schema(part) or is_text_list(part) for part in value.values())


def is_flag(value: object) -> bool:
    return isinstance(value, bool)


def is_list(value: object) -> bool:
    return isinstance(value, list)


def is_anything(_: object) -> bool:
    return True


def as_map(value: object) -> dict[str, object]:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """`value` where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_texts(value: object) -> list[str]:
    """The texts in a list."""
    return [item for item in as_list(value) if isinstance(item, str)]
