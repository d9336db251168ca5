"""Two implementations of one program: what a must speaks about is compared, and nothing that the rules leave free."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.catalogue import load_catalogue
from conformance.drivers.backend import InProcessDriver
from conformance.drivers.protocol import ApiCall, NativeAnswer, NativeSpec, Op, PolicySpec, Reply, ToolSpec
from conformance.drivers.specs import make_driver, parse
from conformance.peer import error, text_result
from conformance.programs.clock import patient_runner
from conformance.programs.differential import Difference, differ
from conformance.programs.gherkin import scenario
from conformance.programs.operations import (
    AddAgent,
    AddNative,
    AddPackage,
    AddPolicy,
    AnyOperation,
    CallApi,
    Handler,
    Prompt,
    ReloadPackage,
    Tell,
    Tool,
    Turn,
)
from conformance.programs.run import Connection, run_program
from conformance.programs.search import own_connection
from conformance.scripts import Behaviour, CallPi, Cancel, Match, NativeBehaviour, Say, Update
from conformance.verdicts import RuleFailed
from tests.fast.every_operation import says
from tests.fast.scenarios import performed
from tests.right_bridges.table import load_right_bridges

SCHEMA = {"type": "object", "properties": {"s": {"type": "string"}, "n": {"type": "number"}}, "required": ["s"]}
EVENTS = ("tool_execution_start", "tool_call", "tool_execution_update", "tool_result", "tool_execution_end")
LOOK = AddNative(native=NativeSpec(name="look", description="looks"))


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with patient_runner() as made:
        yield made


class Side:
    """Connections to the reference and to its mutants."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._live: dict[str, Connection] = {}

    def __call__(self, spec: str) -> Connection:
        if spec not in self._live:
            named = parse(spec)
            driver = make_driver(named)
            hello = self._runner.run(driver.start())
            self._live[spec] = Connection(self._runner, driver, hello, named.mount or hello.mounts[0])
        return self._live[spec]

    def close(self) -> None:
        for connection in self._live.values():
            self._runner.run(connection.driver.close())


@pytest.fixture(scope="module")
def side(runner: asyncio.Runner) -> Iterator[Side]:
    made = Side(runner)
    yield made
    made.close()


def difference(side: Side, mutant: str, *program: AnyOperation) -> Difference | None:
    """What tells the mutant from the reference in a program."""
    return differ(program, *(run_program(side(spec), program) for spec in ("reference", f"mutant:{mutant}")))


def package(*handlers: Handler, body: Behaviour | None = None, parameters: Any = SCHEMA, **spec: Any) -> AddPackage:
    """Return a package with the tool stow, with these handlers, or listening to everything."""
    tool = ToolSpec(name="stow", label="stow", description="the tool stow", parameters=parameters, **spec)
    does = [] if body is None else [body]
    listens = list(handlers) or [Handler(event=event) for event in EVENTS]
    return AddPackage(name="alpha", tools=[Tool(spec=tool, does=does)], handlers=listens)


def gate(reply: Reply, *acts: Any) -> Handler:
    """Return a tool_call handler."""
    return Handler(event="tool_call", does=[Behaviour(acts=list(acts), reply=reply)])


def asks(*calls: tuple[str, str], agent: str = "main") -> Prompt:
    """Return a prompt whose model calls these tools with these arguments."""
    numbered = [(str(number), name, text) for number, (name, text) in enumerate(calls, 1)]
    return Prompt(turns=[Turn(agent=agent, messages=[says(*numbered)])])


# --- what is found ----------------------------------------------------------------------------------------------------

FOUND: list[tuple[str, str, list[AnyOperation], list[str]]] = [
    (
        "arguments-not-coerced",
        "tool_call.the-gate-sees-checked-arguments",
        [package(), asks(("stow", '{"s":7}'))],
        ['package "alpha" sees tool_call of call "1" with {"input": {"s": "7"}}'],
    ),
    (
        "invalid-call-runs",
        "tool_call.invalid-calls-are-not-judged",
        [package(), asks(("stow", "{}"))],
        ['package "alpha" never sees tool_call'],
    ),
    (
        "block-reason-lost",
        "tool_call.a-block-keeps-the-tool-from-running",
        [package(gate(Reply(returns={"block": True, "reason": "not today"}))), asks(("stow", '{"s":"x"}'))],
        ['call "1" fails and says "not today"'],
    ),
    (
        "gate-fails-open",
        "tool_call.a-gate-that-throws-blocks",
        [package(gate(Reply(throws=error("the gate broke")))), asks(("stow", '{"s":"x"}'))],
        ['the tool "stow" does not run'],
    ),
    (
        "mutation-dropped",
        "tool_call.mutation-reaches-the-tool",
        [package(gate(Reply(ops=[Op(op="set", path=["input", "s"], value="new")]))), asks(("stow", '{"s":"x"}'))],
        ['call "1" of "stow" runs with {"s": "new"}'],
    ),
    (
        "thrown-message-lost",
        "registerTool.a-thrown-error-reaches-the-model",
        [package(body=Behaviour(reply=Reply(throws=error("it broke")))), asks(("stow", '{"s":"x"}'))],
        ['call "1" fails and says "it broke"'],
    ),
    (
        "text-trimmed",
        "registerTool.text-results-reach-log-and-model",
        [package(body=Behaviour(reply=Reply(returns=text_result(" spaced ")))), asks(("stow", '{"s":"x"}'))],
        ['call "1" succeeds with " spaced "'],
    ),
    (
        "patch-ignored",
        "tool_result.text-is-replaced",
        [
            package(
                Handler(
                    event="tool_result",
                    does=[Behaviour(reply=Reply(returns={"content": [{"type": "text", "text": "new"}]}))],
                )
            ),
            asks(("stow", '{"s":"x"}')),
        ],
        ['call "1" succeeds with "new"'],
    ),
    (
        "only-results-vote",
        "tool_call.the-loop-stops-only-when-every-call-asked",
        [
            package(gate(Reply(returns={"block": True, "reason": "no", "terminate": True}))),
            asks(("stow", '{"s":"x"}')),
        ],
        ["the model is asked 1 times"],
    ),
    (
        "odd-result-ends-the-turn",
        "registerTool.an-odd-result-costs-one-result",
        [package(body=Behaviour(reply=Reply())), asks(("stow", '{"s":"x"}'))],
        ["the model is asked 2 times"],
    ),
    (
        "start-handlers-in-reverse",
        "tool_execution_start.handlers-are-told-in-load-order",
        [package(*[Handler(event="tool_execution_start")] * 2), asks(("stow", '{"s":"x"}'))],
        [],
    ),
    (
        "update-without-details",
        "tool_execution_update.from-on-update",
        [package(body=Behaviour(acts=[Update(update=text_result("part"))])), asks(("stow", '{"s":"x"}'))],
        [
            'package "alpha" sees tool_execution_update of call "1" with '
            '{"partialResult": {"content": [{"type": "text", "text": "part"}], "details": {}}}'
        ],
    ),
    (
        "coerced-arguments-logged",
        "registerTool.the-log-keeps-what-the-model-wrote",
        [package(Handler(event="tool_result")), asks(("stow", '{"s":7}'))],
        ['the log keeps {"s": 7} as the arguments of call "1"'],
    ),
    (
        "validation-error-without-a-frame",
        "registerTool.an-invalid-call-does-not-run",
        [package(), asks(("stow", "{}"))],
        ['call "1" fails and says "Validation failed for tool"'],
    ),
    (
        "only-the-first-problem-is-told",
        "registerTool.a-validation-error-names-each-property",
        [package(), asks(("stow", '{"n":"x","s":{}}'))],
        ['call "1" fails and says "n:"'],
    ),
    (
        "guidelines-invented-for-natives",
        "getAllTools.no-invented-guidelines-on-natives",
        [package(gate(Reply(), CallPi(call="getAllTools"))), LOOK, asks(("stow", '{"s":"x"}'))],
        ['the row of "look" from getAllTools is without "promptGuidelines"'],
    ),
    (
        "active-list-is-stale",
        "getActiveTools.follows-a-restriction-at-once",
        [
            package(gate(Reply(), CallPi(call="setActiveTools", args=[["stow"]]), CallPi(call="getActiveTools"))),
            LOOK,
            asks(("stow", '{"s":"x"}')),
        ],
        ['getActiveTools returned a list without "look"'],
    ),
    (
        "unregister-true-again",
        "unregisterTool.a-second-call-is-false",
        [package(), *[CallApi(package="alpha", call="unregisterTool", args=["stow"])] * 2, asks(("ghost", "{}"))],
        ["unregisterTool returned false"],
    ),
    (
        "restriction-never-applied",
        "setActiveTools.narrows-the-next-request",
        [package(), LOOK, CallApi(package="alpha", call="setActiveTools", args=[["stow"]]), asks(("ghost", "{}"))],
        ['request 1 does not list "look"'],
    ),
    (
        "unregister-leaves-the-tool",
        "unregisterTool.the-own-tool-goes",
        [package(), CallApi(package="alpha", call="unregisterTool", args=["stow"]), asks(("ghost", "{}"))],
        ['request 1 does not list "stow"'],
    ),
    (
        "updates-invented-for-natives",
        "tool_execution_update.none-for-native-tools",
        [package(), LOOK, asks(("look", "{}"))],
        ['package "alpha" never sees tool_execution_update'],
    ),
]


@pytest.mark.parametrize(("mutant", "rule", "program", "then"), FOUND, ids=[row[0] for row in FOUND])
def test_the_first_difference_names_its_rule_and_what_is_right(
    side: Side, mutant: str, rule: str, program: list[AnyOperation], then: list[str]
) -> None:
    found = difference(side, mutant, *program)

    assert found is not None
    assert (found.rule, list(found.then)) == (rule, then)
    assert load_catalogue().by_id[rule].level == "must"


@pytest.mark.parametrize(
    ("mutant", "rule", "program", "then"), [row for row in FOUND if row[3]], ids=[row[0] for row in FOUND if row[3]]
)
def test_the_scenario_of_a_difference_fails_where_the_program_differs(
    side: Side, mutant: str, rule: str, program: list[AnyOperation], then: list[str]
) -> None:
    text = scenario(program, rule, "as it was found", then)

    performed(side("reference"), text)
    with pytest.raises(RuleFailed):
        performed(side(f"mutant:{mutant}"), text)


def test_an_implementation_does_not_differ_from_itself(side: Side) -> None:
    for _, _, program, _ in FOUND:
        assert differ(program, *(run_program(side("reference"), program) for _ in range(2))) is None


def test_the_mounts_of_the_reference_do_not_differ(side: Side) -> None:
    for _, _, program, _ in FOUND:
        both = [run_program(side(f"reference?mount={mount}"), program) for mount in ("root", "engine")]
        assert differ(program, *both) is None


# --- what is free -----------------------------------------------------------------------------------------------------


def mutates(path: list[str | int], at: Any = "after-await") -> Handler:
    """Return a gate that changes something in its event."""
    return gate(Reply(ops=[Op(op="set", path=path, value="new", at=at)]))


BODY = Behaviour(reply=Reply(returns=text_result(" spaced ")))
FREE: dict[str, tuple[str, list[AnyOperation]]] = {
    "a null that is coerced or removed": (
        "optional-null-reaches-the-tool",
        [package(), asks(("stow", '{"s":"x","n":null}'))],
    ),
    "arguments that are no JSON": ("broken-json-runs", [package(), asks(("stow", "not json"))]),
    "a schema that is no object's": (
        "invalid-call-runs",
        [package(parameters={"type": "string"}), asks(("stow", "{}"))],
    ),
    "a block that is truthy only": (
        "only-literal-true-blocks",
        [package(gate(Reply(returns={"block": 1, "reason": "no"}))), asks(("stow", '{"s":"x"}'))],
    ),
    "a change after the answer": (
        "mutation-dropped",
        [package(mutates(["input", "s"], "after-return")), asks(("stow", '{"s":"x"}'))],
    ),
    "a native's text after a cancel": (
        "text-trimmed",
        [package(gate(Reply(), Cancel()), body=BODY), asks(("stow", '{"s":"x"}'))],
    ),
    "what comes after the user spoke": (
        "text-trimmed",
        [package(body=BODY), Tell(how="steer"), asks(("stow", '{"s":"x"}'))],
    ),
    "input queued in a turn": (
        "steering-lost-at-the-stop",
        [
            package(gate(Reply(returns={"block": True, "reason": "no", "terminate": True}), Say("steer", "more"))),
            asks(("stow", '{"s":"x"}')),
        ],
    ),
    "a call that follows a change in its batch": (
        "batch-keeps-unregistered-tools",
        [
            package(body=Behaviour(acts=[CallPi(call="unregisterTool", args=["stow"])])),
            asks(("stow", '{"s":"x"}'), ("stow", '{"s":"x"}')),
        ],
    ),
    "an own tool that a list leaves out": (
        "own-tool-stays-silently",
        [
            package(),
            LOOK,
            CallApi(package="alpha", call="setActiveTools", args=[["look"]]),
            asks(("stow", '{"s":"x"}')),
        ],
    ),
    "two packages of one name": (
        "last-package-wins",
        [
            package(),
            AddPackage(name="beta", tools=[Tool(spec=ToolSpec(name="stow", label="s", description="other"))]),
            asks(("stow", '{"s":"x"}')),
        ],
    ),
    "a package with a native's name": (
        "native-beats-the-package",
        [package(), AddNative(native=NativeSpec(name="stow")), asks(("stow", '{"s":"x"}'))],
    ),
    "an ask of the host's policy": (
        "ask-taken-for-allow",
        [package(), AddPolicy(policy=PolicySpec(id="first", answer="ask", reason="?")), asks(("stow", '{"s":"x"}'))],
    ),
    "a native that concludes the turn": (
        "text-trimmed",
        [
            AddNative(native=NativeSpec(name="look"), does=[NativeBehaviour(answer=NativeAnswer(conclude=True))]),
            package(body=BODY),
            asks(("look", "{}"), ("stow", '{"s":"x"}')),
            asks(("stow", '{"s":"x"}')),
        ],
    ),
    "a package that is loaded again": (
        "text-trimmed",
        [package(body=BODY), ReloadPackage(package="alpha"), asks(("stow", '{"s":"x"}'))],
    ),
    "a list of nobody's among several agents": (
        "restriction-never-applied",
        [
            package(),
            LOOK,
            AddAgent(agent="other"),
            CallApi(package="alpha", call="setActiveTools", args=[["stow"]]),
            asks(("ghost", "{}"), agent="other"),
        ],
    ),
    "what an end handler writes": (
        "end-writes-reach-the-log",
        [
            package(
                Handler(
                    event="tool_execution_end",
                    does=[Behaviour(reply=Reply(ops=[Op(op="set", path=["result", "content", 0, "text"], value="x")]))],
                )
            ),
            asks(("stow", '{"s":"x"}')),
        ],
    ),
    "an agent made by one mount only": (
        "text-trimmed",
        [package(body=BODY), asks(("ghost", "{}")), AddAgent(agent="other"), Prompt(turns=[Turn(agent="nobody")])],
    ),
}


@pytest.mark.parametrize("what", FREE)
def test_what_the_rules_leave_free_is_no_difference(side: Side, what: str) -> None:
    mutant, program = FREE[what]

    assert difference(side, mutant, *program) is None


def test_a_departure_from_a_should_is_told_only_to_who_asks_for_it(side: Side) -> None:
    program = [package(prompt_snippet="stow things"), asks(("stow", '{"s":"x"}'))]
    both = [run_program(side(spec), program) for spec in ("reference", "mutant:prompt-snippet-lost")]

    assert differ(program, *both) is None
    found = differ(program, *both, levels=("must", "should"))
    assert found is not None
    assert found.rule == "registerTool.prompt-snippet-while-active"


def test_of_an_agent_that_parted_nothing_more_is_compared_and_of_another_everything(side: Side) -> None:
    """The user cancels one agent's turn; what the other one's tool answers is no less wrong for that."""
    cancels = Behaviour(match=Match(agent="other"), acts=[Cancel()])
    program: list[AnyOperation] = [
        package(Handler(event="tool_call", does=[cancels]), body=BODY),
        AddAgent(agent="other"),
        asks(("stow", '{"s":"x"}'), agent="other"),
    ]
    assert difference(side, "text-trimmed", *program) is None

    found = difference(side, "text-trimmed", *program, asks(("stow", '{"s":"x"}')))
    assert found is not None
    assert found.where.startswith('call "1" of stow')


def test_what_one_side_lacks_is_no_difference(side: Side) -> None:
    program = [package(), CallApi(package="nobody", call="getActiveTools"), asks(("stow", "{}"))]
    whole, wrong = (run_program(side(spec), program) for spec in ("reference", "mutant:invalid-call-runs"))
    assert differ(program, whole, wrong) is not None

    whole.skipped.append("operation 9: lacks something")

    assert differ(program, whole, wrong) is None


def test_beside_the_real_pi_only_what_is_the_same_there_counts(side: Side) -> None:
    program = next(row[2] for row in FOUND if row[0] == "updates-invented-for-natives")
    right, wrong = (run_program(side(spec), program) for spec in ("reference", "mutant:updates-invented-for-natives"))
    assert differ(program, right, wrong) is not None

    object.__setattr__(wrong.context, "role", "pi")

    assert differ(program, right, wrong) is None


def test_a_handler_that_is_added_again_on_one_side_is_no_difference(side: Side) -> None:
    """There the package's tools stay switched on, so that one of them runs again and adds it once more."""
    adds = Behaviour(acts=[CallPi(call="on", args=[{"id": "late", "event": "tool_call", "sync": {}}])])
    narrows = NativeBehaviour(acts=[CallPi(call="setActiveTools", args=[[]], package="alpha")])
    program: list[AnyOperation] = [
        package(body=adds),
        AddNative(native=NativeSpec(name="look"), does=[narrows]),
        asks(("stow", '{"s":"x"}')),
        asks(("look", "{}"), ("stow", '{"s":"x"}')),
    ]
    assert beside_right_bridge(side, "one-instance-on-each-scope", program) is None


def test_a_list_from_loading_is_about_what_is_there_once_it_is_applied(side: Side) -> None:
    """So it may leave out a tool that was registered after it, which another bridge cannot switch off."""
    narrows = AddPackage(name="first", calls=[ApiCall(call="setActiveTools", args=[[]])])
    program: list[AnyOperation] = [narrows, package(), asks(("ghost", "{}"))]

    assert beside_right_bridge(side, "one-instance-on-each-scope", program) is None


def beside_right_bridge(side: Side, name: str, program: list[AnyOperation]) -> Difference | None:
    """What tells a bridge that is right from the reference in a program."""
    bridge = load_right_bridges()[name]
    at = own_connection(InProcessDriver(bridge.name, bridge.make_backend))
    try:
        return differ(program, run_program(side("reference"), program), run_program(at, program))
    finally:
        at.runner.run(at.driver.close())
        at.runner.close()
