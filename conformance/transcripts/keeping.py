"""Writes the transcript of each item, as soon as its verdict is known, from whichever process ran it."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from conformance import __version__
from conformance.catalogue.fingerprint import Fingerprints, fingerprints
from conformance.drivers.protocol import PROTOCOL_VERSION
from conformance.trace import Trace
from conformance.transcripts import files
from conformance.transcripts.recording import RecordingDriver

if TYPE_CHECKING:
    from conformance._pytest.judge import Judged
    from conformance._pytest.plan import Plan, Task


class Keeper:
    """Keeps stages in ``folder``, one file an item under its bridge's label; a file of that name is replaced."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self._plan = plan

    @cached_property
    def _marks(self) -> Fingerprints:
        return fingerprints(self._plan.catalogue, self._plan.features)

    def keep(self, task: Task, recording: RecordingDriver | None, trace: Trace | None, judged: Judged) -> None:
        """Write the stage of one item; there is no ``recording`` of one that was decided before it ran."""
        rule, bridge, marks = task.rule, task.bridge, self._marks
        head = files.Head(
            transcript=files.FORMAT,
            suite=__version__,
            protocol=PROTOCOL_VERSION,
            spec=self._plan.catalogue.version,
            digest=marks.spec,
            label=bridge.label,
            bridge=bridge.spec,
            mount=bridge.mount,
            hello=bridge.hello,
            item=task.item,
            rule=rule.id,
            level=rule.level,
            text=marks.rules[rule.id].text,
            proof=marks.rules[rule.id].proof,
            probed=dict(task.probed),
        )
        verdict = files.Verdict(
            verdict=str(judged.verdict),
            outcome=str(judged.outcome),
            message=judged.message,
            broken=sorted({each.invariant for each in judged.broken}),
        )
        events = trace.events if trace is not None else []
        files.write(
            files.place(self.folder, bridge.label, task.item),
            head,
            recording.lines if recording else [],
            events,
            verdict,
        )
