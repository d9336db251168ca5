"""Verdicts as they come in, on the controller: of proofs, of rules, of the whole, and the report made of them."""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from conformance import __version__
from conformance._pytest.bridges import Bridge
from conformance._pytest.judge import DIFFERS, Judged, of_breached_rule
from conformance._pytest.plan import Plan, Task, mutant_of
from conformance.catalogue import Proof, Rule
from conformance.catalogue.fingerprint import spec_digest
from conformance.catalogue.model import Level
from conformance.drivers.capabilities import unknown
from conformance.drivers.protocol import PROTOCOL_VERSION
from conformance.ledger import Deviation, example_of
from conformance.reporting.examples import examples_of, surfaces_of
from conformance.reporting.model import (
    FORMAT,
    BridgeReport,
    DeviationReport,
    Implementation,
    Named,
    ProofReport,
    Report,
    RuleReport,
    Selection,
    SpecReport,
    Summary,
)
from conformance.verdicts import TABLE, Verdict, of_rule, standing, with_ledger

CRASHED = "the process that ran this test died"


@dataclass
class Seen:
    """Everything the phases of one test said."""

    judged: list[Judged] = field(default_factory=list)
    node: str = ""
    trace: str | None = None


Breach = tuple[str, str, Seen]
"""A test that broke an invariant, the sentence that says how, and what else was said of the test."""


class Tally:
    """Starts from every expected proof as not run."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.seen: dict[tuple[str, str], Seen] = {}
        self.stderr: dict[str, list[str]] = {}
        self.notes: list[str] = [
            f"{bridge.label} declares {', '.join(strange)}, which is no capability of this suite"
            for bridge in plan.bridges
            if (strange := unknown(bridge.hello.capabilities))
        ]
        self._rules: dict[str, list[RuleReport]] = {}
        self._started = datetime.now(UTC)
        self._clock = time.monotonic()

    def add(self, judged: Judged, node: str, trace: str | None) -> None:
        """Take what one phase of one test said."""
        self._rules.pop(judged.label, None)
        seen = self.seen.setdefault((judged.label, judged.item), Seen())
        seen.judged.append(judged)
        seen.node = node
        seen.trace = trace or seen.trace

    def crashed(self, task: Task, node: str, message: str) -> None:
        """Take that the process of a test died: that says nothing about the bridge."""
        label, item = task.bridge.label, task.item
        broke = Verdict.HARNESS_ERROR
        self.add(Judged(label, item, task.rule.id, broke, broke, message=f"{CRASHED}: {message}"), node, None)

    def probed(self, bridge: Bridge) -> dict[str, bool]:
        """Of each capability that a probe decided, whether it is there; where workers disagree it is not."""
        found: dict[str, bool] = {}
        for seen in self._of(bridge).values():
            for judged in seen.judged:
                for name, there in judged.probed.items():
                    found[name] = found.get(name, True) and there
        return dict(sorted(found.items()))

    def _of(self, bridge: Bridge) -> dict[str, Seen]:
        """What was said of a bridge, by test."""
        items = {proof.item: None for proof in self.plan.proofs[bridge.label]}
        return {item: self.seen[bridge.label, item] for item in items if (bridge.label, item) in self.seen}

    def traces(self) -> dict[tuple[str, str], str]:
        """The traces that are kept, by label and test."""
        return {key: seen.trace for key, seen in self.seen.items() if seen.trace is not None}

    # --- verdicts -----------------------------------------------------------------------------------------------------

    def rules(self, bridge: Bridge) -> list[RuleReport]:
        """Every rule's verdict on a bridge, in their order; of a mutant, of those that are asked of it."""
        if bridge.label not in self._rules:
            proofs: dict[str, list[ProofReport]] = {}
            breaches = self._breaches(bridge)
            witnessed = any(judged.witnessed for seen in self._of(bridge).values() for judged in seen.judged)
            for proof in self.plan.proofs[bridge.label]:
                if proof.kind == "invariant":
                    report = self._invariant(proof, bridge, breaches.get(_invariant_of(proof), []), witnessed)
                else:
                    report = self._proof(proof, bridge)
                proofs.setdefault(proof.rule_id, []).append(report)
            for rule_id, report in self._differences(bridge):
                proofs.setdefault(rule_id, []).append(report)
            rules = self.plan.catalogue.rules
            if not self.plan.whole and mutant_of(bridge):  # A mutant is asked few of them, and there are a thousand.
                rules = tuple(rule for rule in rules if rule.id in proofs)
            self._rules[bridge.label] = [self._rule(rule, bridge, proofs.get(rule.id, [])) for rule in rules]
        return self._rules[bridge.label]

    def judged(self, selected: bool = False) -> Iterator[tuple[Level, Verdict]]:
        """Level and verdict of every rule on every bridge; of a rule of which only a part was ``selected``, by that."""
        for bridge in self.plan.bridges:
            for rule in self.rules(bridge):
                ran = [proof.verdict for proof in rule.proofs if proof.verdict is not Verdict.NOT_RUN]
                yield rule.level, of_rule(ran) if selected and ran else rule.verdict

    def unfinished(self) -> bool:
        """Whether anything that applies has not been run."""
        return any(
            proof.verdict is Verdict.NOT_RUN
            for bridge in self.plan.bridges
            for rule in self.rules(bridge)
            for proof in rule.proofs
        )

    def _rule(self, rule: Rule, bridge: Bridge, proofs: list[ProofReport]) -> RuleReport:
        verdict = of_rule(proof.verdict for proof in proofs)
        hello = bridge.hello
        if not proofs and rule.applies_to(hello.role, bridge.mount, hello.capabilities):
            verdict = Verdict.NOT_RUN  # A may need not have a proof.
        return RuleReport(
            id=rule.id,
            surface=rule.surface,
            level=rule.level,
            relation=rule.relation,
            verdict=verdict,
            text=rule.text,
            source=str(rule.source),
            proofs=proofs,
            on_pi=rule.on_pi,
            because=rule.because,
            interpretation=rule.interpretation,
        )

    def _proof(self, proof: Proof, bridge: Bridge) -> ProofReport:
        seen = self.seen.get((bridge.label, proof.item))
        where = f"{proof.file}:{proof.line}" if proof.file else proof.item
        if seen is None:
            return ProofReport(item=proof.item, kind=proof.kind, where=where, verdict=Verdict.NOT_RUN)
        verdict = of_rule(judged.verdict for judged in seen.judged)
        worst = next(judged for judged in seen.judged if judged.verdict is verdict)
        return ProofReport(
            item=proof.item,
            kind=proof.kind,
            where=where,
            verdict=verdict,
            node=seen.node,
            duration=round(sum(judged.duration for judged in seen.judged), 6),
            message=worst.message,
            step=worst.step,
            expected=worst.expected,
            got=worst.got,
            broken=[broken for judged in seen.judged for broken in judged.broken],
        )

    def _breaches(self, bridge: Bridge) -> dict[str, list[Breach]]:
        """What broke an invariant on a bridge, by the invariant's name."""
        found: dict[str, list[Breach]] = {}
        for item, seen in self._of(bridge).items():
            for judged in seen.judged:
                for broken in judged.broken:
                    found.setdefault(broken.invariant, []).append((item, broken.sentence, seen))
        return found

    def _invariant(self, proof: Proof, bridge: Bridge, breaches: list[Breach], witnessed: bool) -> ProofReport:
        name = _invariant_of(proof)
        ledger = self.plan.ledgers.get(bridge.label)
        if breaches:
            verdict = of_breached_rule(name, proof.rule_id, bridge, self.plan, ledger)
        elif witnessed:
            entry = ledger.find(proof.rule_id, proof.item, bridge.mount) if ledger else None
            # An entry for the whole rule is about its tests; only one that names the invariant waits for a breach. It
            # may come in any test, so that only a run of all of them shows that there is none.
            named = entry is not None and entry.example == proof.item and not self._missing(bridge)
            verdict = with_ledger(Verdict.PASS, listed=named)
        else:
            verdict = Verdict.NOT_RUN
        return ProofReport(
            item=proof.item,
            kind="invariant",
            where=proof.item,
            verdict=verdict,
            node=breaches[0][2].node if breaches else "",
            message="\n".join(f"{item}: {sentence}" for item, sentence, _ in breaches[:10]),
        )

    def _missing(self, bridge: Bridge) -> bool:
        """Whether a test that applies to a bridge has not been run."""
        tests = (proof for proof in self.plan.proofs[bridge.label] if proof.kind != "invariant")
        return any(self._proof(proof, bridge).verdict is Verdict.NOT_RUN for proof in tests)

    def _differences(self, bridge: Bridge) -> Iterator[tuple[str, ProofReport]]:
        """What random programs answered otherwise than on the implementation they were compared with, by rule."""
        ledger = self.plan.ledgers.get(bridge.label)
        for item, seen in self._of(bridge).items():
            for broken in (broken for judged in seen.judged for broken in judged.broken):
                for rule_id in broken.rules if broken.invariant.startswith(DIFFERS) else ():
                    verdict = of_breached_rule(broken.invariant, rule_id, bridge, self.plan, ledger)
                    message = f"{broken.invariant}: {broken.sentence}"
                    yield (
                        rule_id,
                        ProofReport(
                            item=item, kind="property", where=item, verdict=verdict, node=seen.node, message=message
                        ),
                    )

    # --- the report ---------------------------------------------------------------------------------------------------

    def report(self, selection: Selection, status: int) -> Report:
        """The report as it stands now."""
        return Report(
            format=FORMAT,
            suite=Named(name="pi-bridge-conformance", version=__version__),
            spec=SpecReport(
                version=self.plan.catalogue.version,
                revision=self.plan.catalogue.revision,
                digest=spec_digest(self.plan.catalogue, self.plan.features),
            ),
            protocol=PROTOCOL_VERSION,
            python=platform.python_version(),
            platform=platform.platform(),
            started=self._started.isoformat(timespec="seconds"),
            duration=round(time.monotonic() - self._clock, 3),
            selection=selection,
            exit=status,
            bridges=[self._bridge(bridge, selection) for bridge in self.plan.bridges],
            notes=self.notes,
            surfaces=surfaces_of(self.plan.catalogue),
            examples=examples_of(self.plan.catalogue, self.plan.features, (item for _, item in self.plan.tasks)),
        )

    def stale(self, bridge: Bridge) -> list[tuple[Deviation, str]]:
        """Ledger entries of a bridge that speak of nothing, with the reason."""
        ledger = self.plan.ledgers.get(bridge.label)
        return [(entry, why) for entry, why in self.plan.stale if ledger is not None and entry in ledger.deviations]

    def _bridge(self, bridge: Bridge, selection: Selection) -> BridgeReport:
        rules = self.rules(bridge)
        hello = bridge.hello
        probed = self.probed(bridge)
        word = standing(
            [(rule.level, rule.verdict) for rule in rules],
            complete=selection == "complete",
            stale=bool(self.stale(bridge)),
        )
        return BridgeReport(
            label=bridge.label,
            spec=bridge.spec,
            mount=bridge.mount,
            implementation=Implementation(
                name=hello.name,
                version=hello.version,
                role=hello.role,
                protocol=hello.protocol,
                versions=hello.versions,
                mounts=hello.mounts,
                capabilities=hello.capabilities,
                issues_url=hello.issues_url,
            ),
            probed=probed,
            standing=str(word),
            summary=summary(rules, hello.capabilities, probed),
            rules=rules,
            deviations=list(self._deviations(bridge, rules)),
            stderr=[],
        )

    def _deviations(self, bridge: Bridge, rules: list[RuleReport]) -> Iterator[DeviationReport]:
        ledger = self.plan.ledgers.get(bridge.label)
        speaks_of_nothing = dict(self.stale(bridge))
        by_id = {rule.id: rule for rule in rules}
        for entry in ledger.deviations if ledger is not None else ():
            here = entry.rule in by_id and entry.mount in (None, bridge.mount)
            proofs = by_id[entry.rule].proofs if here else []
            spoken = [proof for proof in proofs if entry.example in (None, example_of(proof.item, entry.rule))]
            why = speaks_of_nothing.get(entry, "")
            why = why or next((proof.message for proof in spoken if proof.verdict is Verdict.STALE), "")
            held = any(proof.verdict is Verdict.DEVIATION for proof in spoken)
            yield DeviationReport(
                rule=entry.rule,
                reason=entry.reason,
                added=entry.added.isoformat(),
                example=entry.example,
                mount=entry.mount,
                link=entry.link,
                expires=entry.expires.isoformat(),
                state="stale" if why else "holds" if held else "not run",
                stale=why,
            )


def _invariant_of(proof: Proof) -> str:
    return proof.item.removeprefix("invariant:")


def summary(
    rules: Iterable[RuleReport], declared: Collection[str] = (), probed: Mapping[str, bool] | None = None
) -> Summary:
    """Counts and the lists nobody may overlook."""
    found = probed or {}
    counted = [rule for rule in rules if TABLE[rule.verdict].in_totals]

    def of(*verdicts: Verdict, level: str = "") -> list[str]:
        return [rule.id for rule in counted if rule.verdict in verdicts and level in ("", rule.level)]

    by_level = {
        level: dict(Counter(str(rule.verdict) for rule in counted if rule.level == level))
        for level in ("must", "should", "may")
    }
    undecided = (Verdict.NOT_RUN, Verdict.HARNESS_ERROR, Verdict.INCONCLUSIVE, Verdict.UNSUPPORTED)
    return Summary(
        rules=dict(Counter(str(rule.verdict) for rule in counted)),
        by_level=by_level,
        unproven=of(*undecided, level="must"),
        departures=of(Verdict.DEPARTS),
        deviations=of(Verdict.DEVIATION),
        undeclared=of(Verdict.UNDECLARED),
        absent_capabilities=[name for name, there in found.items() if name in declared and not there],
        undeclared_capabilities=[name for name, there in found.items() if name not in declared and there],
    )
