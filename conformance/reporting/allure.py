"""What Allure results of this suite are made of: the words of labels, the categories and the environment file."""

from __future__ import annotations

import json
from collections.abc import Mapping

from conformance.catalogue.model import Level
from conformance.reporting._spoken import clean
from conformance.verdicts import TABLE

BRIDGE = "bridge"
"""The label that names the implementation: a report shows one environment for each value."""
RULE = "rule"
"""The label and the link type of a rule's id; ``--allure-link-pattern=rule:https://…/{}`` says where it leads."""
BESIDE = "matrix.html#r-{}"
"""Where a rule's link leads without that option: to the matrix page beside the report. Allure 3 shows it as text."""
SEVERITY: dict[Level, str] = {"must": "critical", "should": "normal", "may": "minor"}

CATEGORIES_FILE = "categories.json"
ENVIRONMENT_FILE = "environment.properties"


def categories() -> list[dict[str, object]]:
    """One category for each verdict that is no plain pass, in order of precedence; messages begin with the verdict."""
    return [
        {
            "name": f"{row.verdict}: {row.when}",
            "matchedStatuses": [row.allure],
            "messageRegex": f"^{row.verdict}: [\\s\\S]*",
        }
        for row in TABLE.values()
        if row.allure != "none" and row.mark != "."
    ]


def categories_text() -> str:
    """The text of ``categories.json``."""
    return json.dumps(categories(), indent=1) + "\n"


def environment_text(facts: Mapping[str, str], before: str = "") -> str:
    """The text of ``environment.properties`` with these facts; of the one before, what they do not replace stays."""
    known = dict(line.split(" = ", 1) for line in before.splitlines() if " = " in line)
    known.update({_key(name): clean(fact).replace("\\", "/") for name, fact in facts.items()})
    return "".join(f"{name} = {known[name]}\n" for name in sorted(known))


def _key(name: str) -> str:
    return "".join(each if each.isalnum() or each in "._-" else "_" for each in name)
