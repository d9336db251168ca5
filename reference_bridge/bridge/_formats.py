"""The `format` names that Pi 0.84.1 checks, as predicates over a string.

Left unchecked, though Pi checks them: the internationalised ones (`idn-email`, `idn-hostname`, `iri`,
`iri-reference`), `url`, `uri-template` and `json-pointer-uri-fragment`. Any other name means nothing, as in Pi.
"""

from __future__ import annotations

import calendar
import ipaddress
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from reference_bridge.bridge._regex import PatternError, compile_pattern

_DAYS_OF_MONTH: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_TIME: Final = re.compile(r"(\d\d):(\d\d):(\d\d(?:\.\d+)?)(?:z|([+-])(\d\d):(\d\d))", re.ASCII | re.IGNORECASE)
_LABEL: Final = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOSTNAME: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII | re.IGNORECASE)
_ATOM: Final = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+"
_EMAIL: Final = re.compile(rf"{_ATOM}(?:\.{_ATOM})*@{_HOSTNAME.pattern}", re.ASCII | re.IGNORECASE)
_UUID: Final = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_POINTER: Final = "(?:/(?:[^~/]|~[01])*)*"
_CLOCK: Final = r"(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_DAYS: Final = r"(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)"
_DURATION: Final = re.compile(rf"P(?:{_DAYS}(?:T{_CLOCK})?|T{_CLOCK}|\d+W)", re.ASCII)
_PLAIN: Final = r"A-Za-z0-9._~!$&'()*+,;=\-"
_ESCAPED: Final = "%[0-9A-Fa-f]{2}"
_SCHEME: Final = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_USER: Final = re.compile(f"(?:[{_PLAIN}:]|{_ESCAPED})*")
# A host of other scripts is let through as it is; a host in brackets is not looked into.
_HOST: Final = re.compile(rf"(?:[{_PLAIN}]|[^\x00-\x7f])*")
_AFTER_HOST: Final = re.compile(f"(?:[{_PLAIN}:@/?#]|{_ESCAPED})*")


def is_date(text: str) -> bool:
    """A day of the calendar, `2020-02-29`."""
    found = _DATE.fullmatch(text)
    if not found:
        return False
    year, month, day = map(int, found.groups())
    if not 1 <= month <= 12:
        return False
    last = 29 if month == 2 and calendar.isleap(year) else _DAYS_OF_MONTH[month - 1]
    return 1 <= day <= last


def is_time(text: str) -> bool:
    """A time with its offset, `20:20:39+00:00`; second 60 only where it is 23:59:60 in UTC."""
    found = _TIME.fullmatch(text)
    if not found:
        return False
    hour, minute, second = int(found[1]), int(found[2]), float(found[3])
    sign = -1 if found[4] == "-" else 1
    offset_hour, offset_minute = int(found[5] or 0), int(found[6] or 0)
    if offset_hour > 23 or offset_minute > 59:
        return False
    if hour <= 23 and minute <= 59 and second < 60:
        return True
    utc_minute = minute - sign * offset_minute
    utc_hour = hour - sign * offset_hour - (1 if utc_minute < 0 else 0)
    return utc_hour in (23, -1) and utc_minute in (59, -1) and second < 61


def is_date_time(text: str) -> bool:
    """A date, the letter T and a time with its offset."""
    date, _, time = text.replace("t", "T").partition("T")
    return is_date(date) and is_time(time)


def is_uri(text: str) -> bool:
    """A URI with a scheme, in ASCII but for its host."""
    scheme = _SCHEME.match(text)
    if not scheme:
        return False
    rest = text[scheme.end() :]
    if not rest.startswith("//"):
        return _AFTER_HOST.fullmatch(rest) is not None
    rest = rest[2:]
    end = min((rest.find(mark) for mark in "/?#" if mark in rest), default=len(rest))
    user, at, _ = rest[:end].partition("@")
    if at:
        if not _USER.fullmatch(user):
            return False
        rest = rest[len(user) + 1 :]
    if rest.startswith("["):
        _, closed, rest = rest.partition("]")
        if not closed:
            return False
    else:
        host = _HOST.match(rest)
        rest = rest[host.end() if host else 0 :]
        if rest[:1] not in ("", "/", "?", "#", ":"):
            return False
    if rest.startswith(":"):
        port, rest = rest[1:], ""
        end = min((port.find(mark) for mark in "/?#" if mark in port), default=len(port))
        port, rest = port[:end], port[end:]
        if port and not (port.isascii() and port.isdigit()):
            return False
    return _AFTER_HOST.fullmatch(rest) is not None


def _is_address(kind: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            kind(text)
        except ValueError:
            return False
        return "%" not in text

    return check


def _is_regex(text: str) -> bool:
    try:
        compile_pattern(text, unicode=False)
    except PatternError:
        return False
    return text != ""


def _full(pattern: str | re.Pattern[str]) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "date": is_date,
        "date-time": is_date_time,
        "duration": _full(_DURATION),
        "email": _full(_EMAIL),
        "hostname": lambda text: len(text) <= 253 and _HOSTNAME.fullmatch(text) is not None,
        "ipv4": _is_address(ipaddress.IPv4Address),
        "ipv6": _is_address(ipaddress.IPv6Address),
        "json-pointer": _full(_POINTER),
        "regex": _is_regex,
        "relative-json-pointer": _full(f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})"),
        "time": is_time,
        "uri": is_uri,
        "uri-reference": lambda text: text.isascii() and re.fullmatch(r"[^\s\[\]{}<>^`|\\]*", text) is not None,
        "uuid": _full(_UUID),
    }
)
"""Format name to its check. Observed on Pi 0.84.1."""
