"""What an invariant says of a run reaches the controller, whatever the implementation wrote."""

from __future__ import annotations

import msgspec

from conformance._pytest.worker import told
from conformance.invariants import Broken


def test_a_sentence_that_quotes_half_a_surrogate_pair_can_be_sent() -> None:
    sent = told(Broken("the-log-keeps-texts", ("tool_call.x",), "the text is cut to 'go \ud83d'"))

    assert msgspec.json.decode(msgspec.json.encode(sent))["sentence"] == "the text is cut to 'go \\ud83d'"
