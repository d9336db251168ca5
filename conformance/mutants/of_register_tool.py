"""Defects of registerTool and unregisterTool: catalogue, policy, arguments, results, names, and when they act."""

from __future__ import annotations

import copy
import dataclasses

import reference_bridge.bridge.arguments as gate
from conformance.mutants.registry import mutant, named
from reference_bridge.bridge.active_tools import ActiveTools
from reference_bridge.bridge.bridge import Bridge
from reference_bridge.bridge.contents import Contents
from reference_bridge.bridge.context import Context
from reference_bridge.bridge.notices import Notices
from reference_bridge.bridge.packages import working_for
from reference_bridge.bridge.patches import ResultPatches
from reference_bridge.bridge.prompts import PromptLines
from reference_bridge.bridge.registrations import Refused, Registrations
from reference_bridge.bridge.tools import ToolRuns
from reference_bridge.bridge.values import UNDEFINED, as_object, json_text, thrown_text
from reference_bridge.host import GLOBAL, NotLosslessError
from reference_bridge.host.json_values import clone
from reference_bridge.host.signals import AbortController
from reference_bridge.host.waterfall import settle

# --- catalogue


@mutant()
class PackageToolsNotListed(Bridge):
    """Takes packages' tools out of the request's catalogue."""

    async def assemble(self, assembly, context, following):
        out = await super().assemble(assembly, context, following)
        own = {t.name for t in self.active_of(context.agent)}
        out.tools = [t for t in out.tools if t["name"] not in own]
        return out


@mutant()
class DescriptionGetsAPrefix(Registrations):
    """Puts "[pi] " in front."""

    def description(self, d):
        return "[pi] " + super().description(d)


@mutant()
class SchemaClosedInTheCatalogue(Registrations):
    """Adds additionalProperties false."""

    def parameters(self, d):
        return {**super().parameters(d), "additionalProperties": False}


def walk(schema, visit):
    """Apply visit(dict) to every schema object, in place."""
    if isinstance(schema, dict):
        visit(schema)
        for key, value in list(schema.items()):
            if key in ("properties", "patternProperties", "$defs") and isinstance(value, dict):
                for each in value.values():
                    walk(each, visit)
            elif key in ("enum", "const", "default", "examples", "required"):
                continue
            else:
                walk(value, visit)
    elif isinstance(schema, list):
        for each in schema:
            walk(each, visit)


class Degrading(Registrations):
    def parameters(self, d):
        out = copy.deepcopy(super().parameters(d))
        walk(out, self.degrade)
        return out

    def degrade(self, s): ...


@mutant()
class SchemaKeywordDroppedInSilence(Degrading):
    """Drops minLength and pattern everywhere."""

    def degrade(self, s):
        s.pop("minLength", None)
        s.pop("pattern", None)


@mutant()
class EnumMembersDroppedInSilence(Degrading):
    """Drops objects and lists from enum."""

    def degrade(self, s):
        if isinstance(s.get("enum"), list):
            s["enum"] = [m for m in s["enum"] if not isinstance(m, (dict, list))]


@mutant()
class KeysBesideAUnionDroppedInSilence(Degrading):
    """Keeps only anyOf and description beside anyOf."""

    def degrade(self, s):
        if "anyOf" in s:
            for k in list(s):
                if k not in ("anyOf", "description"):
                    del s[k]


@mutant()
class TupleItemsDroppedInSilence(Degrading):
    """Drops a list under items."""

    def degrade(self, s):
        if isinstance(s.get("items"), list):
            del s["items"]


@mutant()
class SchemaLossAnnouncedTwice(Registrations):
    """Drops minLength and warns twice with one text."""

    def parameters(self, d):
        out = copy.deepcopy(super().parameters(d))
        for name, p in as_object(out.get("properties")).items():
            if isinstance(p, dict) and p.pop("minLength", None) is not None:
                for _ in range(2):
                    self._notices.warn(f"tool {d['name']}: `minLength` of property {name} is lost")
        return out


@mutant()
class PromptSnippetLost(PromptLines):
    """Is empty."""

    def snippet(self, tool):
        return ""


@mutant()
class LastPackageOwnsThePrompt(PromptLines):
    """Shows the last package's tools only."""

    def sections(self, tools):
        tools = list(tools)
        last = tools[-1].instance.package if tools else None
        return super().sections([t for t in tools if t.instance.package is last])


@mutant()
class PromptSnippetOutlivesTheTool(Bridge):
    """Remembers every tool that was ever visible."""

    def active_of(self, agent):
        self.__dict__.setdefault("_ever", {})
        for t in super().active_of(agent):
            self._ever[t.name] = t
        return list(self._ever.values())


# --- policy


@mutant()
class PackageToolsSkipPolicy(Bridge):
    """Answers allow for packages' tools over an inner decision."""

    async def before_call(self, execution, following):
        decision = await super().before_call(execution, following)
        return {"kind": "allow"} if self.calls.of(execution).tool is not None else decision


@mutant()
class AllowedCallRunsTwice(Bridge):
    """Calls following twice."""

    async def around_body(self, execution, following):
        await super().around_body(execution, following)
        return await following()


@mutant()
class AskTakenForAllow(Bridge):
    """Turns an inner ask into allow."""

    async def before_call(self, execution, following):
        d = await super().before_call(execution, following)
        return {"kind": "allow"} if as_object(d).get("kind") == "ask" else d


@mutant()
class AskTakenForDeny(Bridge):
    """Turns an inner ask into deny."""

    async def before_call(self, execution, following):
        d = await super().before_call(execution, following)
        return {"kind": "deny", "reason": "asked"} if as_object(d).get("kind") == "ask" else d


# --- arguments
def validating(name, defect):
    """Name a defect of what becomes of a call's arguments, as a function of the real thing."""

    def register(change):
        class Runs(ToolRuns):
            def validated(self, tool, arguments):
                return change(self, super().validated, tool, arguments)

        named(name, defect, runs_type=Runs)
        return change

    return register


def with_schema(tool, schema):
    return dataclasses.replace(tool, definition={**tool.definition, "parameters": schema})


@validating("arguments-not-coerced", "Validates and hands on a copy of the raw arguments.")
def _arguments_not_coerced(self, sup, tool, a):
    sup(tool, clone(a))
    return clone(a)


@validating("null-coercion-lost", "Refuses a null property.")
def _null_coercion_lost(self, sup, tool, a):
    if isinstance(a, dict) and any(v is None for v in a.values()):
        raise ValueError("null is not a value")
    return sup(tool, a)


@validating("union-members-coerced-first", "Coerces to the first member of an anyOf.")
def _union_members_coerced_first(self, sup, tool, a):
    s = copy.deepcopy(tool.definition.get("parameters"))

    def first(x):
        if isinstance(x.get("anyOf"), list) and x["anyOf"]:
            x.update(x.pop("anyOf")[0])

    walk(s, first)
    try:
        return sup(with_schema(tool, s), a)
    except Exception:
        return sup(tool, a)


@validating("nested-arguments-not-coerced", "Keeps nested objects and lists raw.")
def _nested_arguments_not_coerced(self, sup, tool, a):
    out = sup(tool, a)
    if isinstance(out, dict) and isinstance(a, dict):
        out = {k: (clone(a[k]) if isinstance(a.get(k), (dict, list)) else v) for k, v in out.items()}
    return out


@validating("optional-null-reaches-the-tool", "Hands null of an optional property on.")
def _optional_null_reaches_the_tool(self, sup, tool, a):
    s = as_object(tool.definition.get("parameters"))
    out = None
    if isinstance(a, dict):
        nulls = [k for k, v in a.items() if v is None and k not in (s.get("required") or [])]
        out = sup(tool, {k: v for k, v in a.items() if k not in nulls})
        return {**out, **dict.fromkeys(nulls)} if isinstance(out, dict) else out
    return sup(tool, a)


@validating("catalogue-schema-used-for-validation", "Validates against a schema without constraints.")
def _catalogue_schema_used_for_validation(self, sup, tool, a):
    s = copy.deepcopy(tool.definition.get("parameters"))

    def cut(x):
        for k in (
            "minLength",
            "pattern",
            "format",
            "minimum",
            "exclusiveMaximum",
            "multipleOf",
            "minItems",
            "uniqueItems",
            "not",
            "propertyNames",
        ):
            x.pop(k, None)

    walk(s, cut)
    return sup(with_schema(tool, s), a)


@validating("invalid-call-runs", "Hands raw arguments on where validation fails.")
def _invalid_call_runs(self, sup, tool, a):
    try:
        return sup(tool, a)
    except gate.ArgumentsInvalid:
        return clone(a)


@validating("validation-error-without-a-frame", "Raises the problems without the first line.")
def _validation_error_without_a_frame(self, sup, tool, a):
    try:
        return sup(tool, a)
    except gate.ArgumentsInvalid as e:
        raise ValueError("invalid arguments: " + e.text.partition("\n")[2]) from None


@validating("only-the-first-problem-is-told", "Keeps one problem line.")
def _only_the_first_problem_is_told(self, sup, tool, a):
    try:
        return sup(tool, a)
    except gate.ArgumentsInvalid as e:
        lines = e.text.split("\n")
        end = lines.index("") if "" in lines else len(lines)
        raise gate.ArgumentsInvalid("\n".join(lines[:2] + lines[end:])) from None


@validating("coerced-arguments-echoed", "Echoes coerced arguments.")
def _coerced_arguments_echoed(self, sup, tool, a):
    try:
        return sup(tool, a)
    except gate.ArgumentsInvalid as e:
        head, sep, echo = e.text.partition("Received arguments:")
        import json

        try:
            shown = json.loads(echo)
        except ValueError:
            raise e from None
        if isinstance(shown, dict):
            shown = {k: (float(v) if isinstance(v, str) and v.isdigit() else v) for k, v in shown.items()}
        raise gate.ArgumentsInvalid(head + sep + "\n" + json.dumps(shown)) from None


@validating("non-object-arguments-run", "Takes {} for arguments that are no object.")
def _non_object_arguments_run(self, sup, tool, a):
    return sup(tool, a) if isinstance(a, dict) else {}


@validating("broken-json-runs", "Takes {} for a text.")
def _broken_json_runs(self, sup, tool, a):
    return {} if isinstance(a, str) else sup(tool, a)


@validating("prepare-arguments-ignored", "Never calls prepareArguments.")
def _prepare_arguments_ignored(self, sup, tool, a):
    return sup(
        dataclasses.replace(tool, definition={k: v for k, v in tool.definition.items() if k != "prepareArguments"}), a
    )


@validating("prepare-arguments-after-validation", "Calls prepareArguments on validated arguments.")
def _prepare_arguments_after_validation(self, sup, tool, a):
    d = tool.definition
    p = d.get("prepareArguments")
    out = sup(dataclasses.replace(tool, definition={k: v for k, v in d.items() if k != "prepareArguments"}), a)
    return p(out) if callable(p) else out


@validating("prepare-arguments-throw-swallowed", "Goes on with the raw arguments.")
def _prepare_arguments_throw_swallowed(self, sup, tool, a):
    d = tool.definition
    p = d.get("prepareArguments")
    if not callable(p):
        return sup(tool, a)

    def safe(x):
        try:
            return p(x)
        except Exception:
            return x

    return sup(dataclasses.replace(tool, definition={**d, "prepareArguments": safe}), a)


@validating("prepared-arguments-not-validated", "Hands on what prepareArguments returned.")
def _prepared_arguments_not_validated(self, sup, tool, a):
    p = tool.definition.get("prepareArguments")
    return p(clone(a)) if callable(p) else sup(tool, a)


@validating("unknown-properties-dropped", "Keeps named properties only.")
def _unknown_properties_dropped(self, sup, tool, a):
    out = sup(tool, a)
    known = as_object(as_object(tool.definition.get("parameters")).get("properties"))
    return {k: v for k, v in out.items() if k in known} if isinstance(out, dict) and known else out


@validating("defaults-filled-in", "Fills defaults in.")
def _defaults_filled_in(self, sup, tool, a):
    props = as_object(as_object(tool.definition.get("parameters")).get("properties"))
    given = {k: p["default"] for k, p in props.items() if isinstance(p, dict) and "default" in p}
    return sup(tool, {**given, **a} if isinstance(a, dict) else a)


@mutant()
class ArgumentsSharedBetweenCalls(ToolRuns):
    """Caches by argument text."""

    def validated(self, tool, arguments):
        return self.__dict__.setdefault("_by_text", {}).setdefault(
            json_text(arguments), super().validated(tool, arguments)
        )


# --- what a tool is handed


@mutant()
class OnUpdateOnlyWithAListener(ToolRuns):
    """Hands undefined as onUpdate."""

    async def execute(self, call, tool, execution):
        execute = tool.definition.get("execute")
        if not callable(execute):
            raise TypeError("definition.execute is not a function")
        with working_for(call.agent):
            return await settle(
                execute(call.call_id, call.input, execution.signal, UNDEFINED, Context(call.agent, execution.signal))
            )


@mutant()
class ExecuteWithoutASignal(ToolRuns):
    """Hands undefined as signal."""

    async def execute(self, call, tool, execution):
        execute = tool.definition.get("execute")
        with working_for(call.agent):
            return await settle(
                execute(
                    call.call_id, call.input, UNDEFINED, lambda p=UNDEFINED: None, Context(call.agent, execution.signal)
                )
            )


@mutant()
class SignalNeverFires(ToolRuns):
    """Hands a signal nobody aborts."""

    async def execute(self, call, tool, execution):
        execute = tool.definition.get("execute")
        dead = AbortController().signal
        with working_for(call.agent):
            return await settle(
                execute(call.call_id, call.input, dead, lambda p=UNDEFINED: None, Context(call.agent, dead))
            )


@mutant()
class SequentialModeIgnored(Registrations):
    """Runs every package's tool beside its neighbours."""

    def entry(self, instance, name, definition):
        made = super().entry(instance, name, definition)
        return dataclasses.replace(
            made, definition=dataclasses.replace(made.definition, is_concurrency_safe=lambda a: True)
        )


# --- results
class Mapping(ToolRuns):
    def answer(self, a):
        return a

    async def value(self, call, answer):
        return await super().value(call, self.answer(answer))


def mapping(name, defect):
    """Name a defect of what becomes of a tool's answer, as a function of the answer."""

    def register(change):
        class Runs(Mapping):
            def answer(self, a):
                return change(a)

        named(name, defect, runs_type=Runs)
        return change

    return register


def blocks(a, f):
    return {**a, "content": f(a["content"])} if isinstance(a, dict) and isinstance(a.get("content"), list) else a


@mapping("only-the-first-block-is-kept", "Keeps the first block.")
def _only_the_first_block_is_kept(a):
    return blocks(a, lambda c: c[:1])


@mapping("empty-results-get-a-placeholder", "Puts a text into an empty content.")
def _empty_results_get_a_placeholder(a):
    return blocks(a, lambda c: c or [{"type": "text", "text": "(no output)"}])


@mapping("text-trimmed", "Strips texts.")
def _text_trimmed(a):
    return blocks(
        a,
        lambda c: [
            {**b, "text": b["text"].strip()} if isinstance(b, dict) and isinstance(b.get("text"), str) else b for b in c
        ],
    )


@mapping("result-logged-as-json-text", "Answers one text, the JSON of the content.")
def _result_logged_as_json_text(a):
    return {"content": [{"type": "text", "text": json_text(a.get("content"))}]} if isinstance(a, dict) else a


@mutant()
class PictureBytesInTheLog(Contents):
    """Hands Pi's block on."""

    async def _store(self, picture, pictures):
        return dict(picture)


@mutant()
class PicturesDropped(Contents):
    """Drops pictures."""

    async def to_host(self, content, pictures):
        return [b for b in await super().to_host(content, pictures) if b["type"] != "image"]


@mutant()
class TextsBesidePicturesDropped(Contents):
    """Drops texts beside pictures."""

    async def to_host(self, content, pictures):
        out = await super().to_host(content, pictures)
        return [b for b in out if b["type"] == "image"] if any(b["type"] == "image" for b in out) else out


@mutant()
class PictureBytesAsAFallback(Contents):
    """Hands Pi's block on."""

    def _omitted(self, picture, why):
        return dict(picture)


@mutant()
class BrokenPictureInTheLog(PictureBytesAsAFallback):
    """Puts a picture that cannot be stored into the log as it is."""


@mutant()
class OddDetailsFailTheCall(ToolRuns):
    """Raises where details are not lossless JSON."""

    async def value(self, call, answer):
        d = as_object(answer).get("details", UNDEFINED)
        if d is not UNDEFINED:
            clone(d)
        return await super().value(call, answer)


@mutant()
class ReturnedIserrorLosesTheText(ToolRuns):
    """Raises a text of its own where isError is truthy."""

    async def value(self, call, answer):
        if as_object(answer).get("isError"):
            raise ValueError(f"tool {call.name} failed")
        return await super().value(call, answer)


@mutant()
class ReturnedIserrorFailsTheCall(ToolRuns):
    """Raises the first text where isError is true."""

    async def value(self, call, answer):
        if as_object(answer).get("isError") is True:
            raise ValueError(answer["content"][0]["text"])
        return await super().value(call, answer)


class Throwing(ToolRuns):
    async def execute(self, call, tool, execution):
        try:
            return await super().execute(call, tool, execution)
        except Exception as e:
            return self.thrown(call, e)


@mutant()
class ThrownMessageLost(Throwing):
    """Raises "the tool failed" for anything thrown."""

    def thrown(self, call, e):
        raise ValueError("the tool failed")


@mutant()
class ThrownErrorEndsTheTurn(Throwing):
    """Cancels the agent where the tool throws."""

    def thrown(self, call, e):
        call.agent.cancel({"kind": "user"})
        raise e


@mutant()
class ThrownNothingIsASuccess(Throwing):
    """Answers empty content where a falsy value is thrown."""

    def thrown(self, call, e):
        if thrown_text(e) in ("undefined", "null", "false", ""):
            return {"content": [], "details": {}}
        raise e


@mutant()
class ThrownTextLost(Throwing):
    """Raises "the tool failed" where no error is thrown."""

    def thrown(self, call, e):
        if type(e).__name__ == "Thrown":
            raise ValueError("the tool failed") from None
        raise e


class _Q(ResultPatches):
    def details_lost(self, call, outcome):
        pass


@mutant()
class DetailsOfAnErrorLostInSilence(ResultPatches):
    """Says nothing about the details of a result that became an error."""

    def details_lost(self, call, outcome):
        return


# --- names


@mutant()
class FirstRegistrationWins(Registrations):
    """Ignores a second registration of the package's own name."""

    def claim(self, instance, entry):
        if (
            self.owned(instance, entry.tool.name) is not None and not instance.__dict__.get("loaded")
            if hasattr(instance, "__dict__")
            else self.owned(instance, entry.tool.name)
        ):
            return
        super().claim(instance, entry)


@mutant()
class RefusedRegistrationSilent(Registrations):
    """Swallows Refused."""

    def register(self, instance, definition):
        try:
            self.claim(instance, self.entry(instance, as_object(definition).get("name"), as_object(definition)))
        except Refused:
            pass


@mutant()
class GhostRegistrationListed(Registrations):
    """Refuses, but the holder takes the refused description."""

    def claim(self, instance, entry):
        holder = self._entries.get((instance.agent, entry.tool.name))
        if holder is not None and holder.tool.instance.package is not instance.package:
            mixed = dataclasses.replace(holder.definition, description=entry.definition.description)
            holder.remove()
            holder.definition = mixed
            self.place(holder)
            raise Refused("taken")
        super().claim(instance, entry)


@mutant()
class LastPackageWins(Registrations):
    """Registrations orders packages backwards."""

    def __init__(self, host, body, load_order, notices):
        super().__init__(host, body, lambda p: -load_order(p), notices)


@mutant()
class NativeBeatsThePackage(Registrations):
    """Refuses names of global natives."""

    def claim(self, instance, entry):
        if (
            entry.tool.name in self._host.tools.view(GLOBAL).known_names
            and self._entries.get((instance.agent, entry.tool.name)) is None
        ):
            raise Refused("a native tool has the name")
        super().claim(instance, entry)


@mutant()
class NamesNormalised(Registrations):
    """Strips, lowers and underscores names."""

    def entry(self, instance, name, definition):
        return super().entry(
            instance, name.strip().lower().replace(" ", "_") if isinstance(name, str) else name, definition
        )


@mutant()
class NamesLookedUpAsProperties(Registrations):
    """Refuses constructor, __proto__, toString."""

    def entry(self, instance, name, definition):
        if name in ("constructor", "__proto__", "toString"):
            raise Refused("taken")
        return super().entry(instance, name, definition)


@mutant()
class MissingLabelRefused(Registrations):
    """Refuses a definition without a label."""

    def entry(self, instance, name, definition):
        if not isinstance(definition.get("label"), str):
            raise Refused("it has no label")
        return super().entry(instance, name, definition)


@mutant(hangs=True)  # No request is ever made: the turn ends before it.
class OddRootSchemaBreaksTheCatalogue(Registrations):
    """Hands anything on."""

    def parameters(self, d):
        return d.get("parameters", UNDEFINED)


# --- when
class Late(Registrations):
    """Registrations made while an agent runs wait."""

    def late(self):
        return any(True for a in self._host.agents)


@mutant()
class LateRegistrationIgnored(Late):
    """Does nothing once there are agents."""

    def register(self, instance, definition):
        if not self.late():
            super().register(instance, definition)


@mutant()
class LateRegistrationWaitsForAPrompt(Bridge):
    """Registrations made during a turn are queued until the next turn's first request."""

    async def assemble(self, assembly, context, following):
        first = context.agent in self._opening
        if first:
            self.registrations.flush()
        self.registrations.open = True
        return await super().assemble(assembly, context, following)

    class registrations_type(Registrations):
        open = False

        def __init__(self, *a):
            super().__init__(*a)
            self.queue = []

        def register(self, instance, definition):
            if self.open:
                self.queue.append((instance, definition))
            else:
                super().register(instance, definition)

        def flush(self):
            self.open = False
            for each in self.queue:
                super().register(*each)
            self.queue.clear()


@mutant()
class RegistrationNotActiveAtOnce(Bridge):
    """Registrations made during a turn are queued until the next request."""

    async def assemble(self, assembly, context, following):
        self.registrations.flush()
        out = await super().assemble(assembly, context, following)
        self.registrations.open = True
        return out

    class registrations_type(Registrations):
        open = False

        def __init__(self, *a):
            super().__init__(*a)
            self.queue = []

        def register(self, instance, definition):
            if self.open:
                self.queue.append((instance, definition))
            else:
                super().register(instance, definition)

        def flush(self):
            for each in self.queue:
                super().register(*each)
            self.queue.clear()


@mutant()
class RegistrationNeedsAHandler(Bridge):
    """Raises outside handlers once there are agents."""

    class registrations_type(Registrations):
        def register(self, instance, definition):
            from reference_bridge.bridge import packages

            running = list(self._host.agents)
            if running and packages.WORKING.get() is None:
                raise RuntimeError("no agent is working")
            super().register(instance, definition)


@mutant()
class ReRegistrationKeepsTheSchema(Registrations):
    """Keeps the old description and parameters in the registry."""

    def claim(self, instance, entry):
        old = self.owned(instance, entry.tool.name)
        if old is not None:
            entry.definition = dataclasses.replace(
                entry.definition, description=old.definition.description, parameters=old.definition.parameters
            )
        super().claim(instance, entry)


@mutant()
class ReRegistrationKeepsTheBehaviour(Registrations):
    """Keeps the old execute."""

    def claim(self, instance, entry):
        old = self.owned(instance, entry.tool.name)
        if old is not None:
            entry = dataclasses.replace(
                entry,
                tool=dataclasses.replace(
                    entry.tool, definition={**entry.tool.definition, "execute": old.tool.definition.get("execute")}
                ),
            )
            tool = entry.tool
            entry.definition = dataclasses.replace(entry.definition, execute=lambda a, x: self._body(tool, x))
        super().claim(instance, entry)


@mutant()
class ReRegistrationValidatesTheOldSchema(Registrations):
    """Keeps the old parameters for validation."""

    def claim(self, instance, entry):
        old = self.owned(instance, entry.tool.name)
        if old is not None:
            entry = dataclasses.replace(
                entry,
                tool=dataclasses.replace(
                    entry.tool,
                    definition={**entry.tool.definition, "parameters": old.tool.definition.get("parameters")},
                ),
            )
            tool = entry.tool
            entry.definition = dataclasses.replace(entry.definition, execute=lambda a, x: self._body(tool, x))
        super().claim(instance, entry)


@mutant()
class ReRegistrationAbortsTheRunningCall(Registrations):
    """The body raises after it ended where its tool is no longer the entry."""

    def __init__(self, host, body, load_order, notices):
        def checked(tool, execution):
            async def run():
                out = body(tool, execution)
                out = await out
                if (
                    self._entries.get((tool.instance.agent, tool.name)) is None
                    or self._entries[(tool.instance.agent, tool.name)].tool is not tool
                ):
                    raise RuntimeError("the tool is gone")
                return out

            return run()

        super().__init__(host, checked, load_order, notices)


# --- packages


@mutant()
class FailedFactoryLeavesItsTools(Bridge):
    """Drops no registrations."""

    def retire(self, instance):
        instance.active = False


@mutant()
class UnloadedPackageKeepsItsTools(Bridge):
    """As failed-factory-leaves-its-tools."""

    def retire(self, instance):
        instance.active = False


@mutant()
class FailedFactoryStopsTheOthers(Bridge):
    """Raises for every package after one that failed."""

    failed = False

    async def run_factory(self, installed, agent):
        if self.failed:
            raise RuntimeError("an earlier package failed")
        try:
            await super().run_factory(installed, agent)
        except Exception:
            self.failed = True
            raise


# --- unregisterTool
class Un(Registrations):
    def own(self, instance, name):
        return self.owned(instance, name)


@mutant()
class UnregisterLeavesTheTool(Registrations):
    """Answers and does nothing."""

    def unregister(self, instance, name):
        return self.owned(instance, name) is not None


@mutant()
class UnregisterAnswersNothing(Registrations):
    """Answers undefined."""

    def unregister(self, instance, name):
        super().unregister(instance, name)
        return UNDEFINED


@mutant()
class UnregisterTakesAll(Registrations):
    """Takes all of the instance's tools."""

    def unregister(self, instance, name):
        found = super().unregister(instance, name)
        if found:
            for e in list(self):
                if e.tool.instance is instance:
                    super().unregister(instance, e.tool.name)
        return found


@mutant()
class UnregisterTakesNatives(Registrations):
    """Drops a native's entry from the registry's layer, too."""

    def unregister(self, instance, name):
        if super().unregister(instance, name):
            return True
        d = self._host.tools.get(name, GLOBAL) if isinstance(name, str) else None
        if d is None:
            return False
        for layer in list(getattr(self._host.tools, "_layers", {}).values()):
            layer.pop(name, None)
        return True


@mutant()
class UnregisterAlwaysTrue(Registrations):
    """Answers true."""

    def unregister(self, instance, name):
        super().unregister(instance, name)
        return True


@mutant()
class UnregisterTakesForeignTools(Registrations):
    """Does not look at the instance."""

    def owned(self, instance, name):
        return self._entries.get((instance.agent, name)) if isinstance(name, str) else None


@mutant()
class UnregisterUnknownThrows(Registrations):
    """Raises for a name it does not own."""

    def unregister(self, instance, name):
        if self.owned(instance, name) is None and isinstance(name, str):
            raise LookupError(name)
        return super().unregister(instance, name)


@mutant()
class UnregisterTrimsNames(Registrations):
    """Strips the name."""

    def unregister(self, instance, name):
        return super().unregister(instance, name.strip() if isinstance(name, str) else name)


@mutant()
class UnregisterTrueAgain(Registrations):
    """Answers true for a name it once took away."""

    def unregister(self, instance, name):
        seen = self.__dict__.setdefault("seen", set())
        found = super().unregister(instance, name) or (id(instance), name) in seen if isinstance(name, str) else False
        if found:
            seen.add((id(instance), name))
        return found


@mutant()
class RefusedRegistrationKeptInThePackage(Registrations):
    """Answers true for a name the package asked for."""

    def register(self, instance, definition):
        self.__dict__.setdefault("asked", set()).add((id(instance), as_object(definition).get("name")))
        super().register(instance, definition)

    def unregister(self, instance, name):
        found = super().unregister(instance, name)
        key = (id(instance), name) if isinstance(name, str) else None
        if key in self.__dict__.get("asked", set()):
            self.asked.discard(key)
            return True
        return found


@mutant()
class DoubledNameKeptInBothPackages(RefusedRegistrationKeptInThePackage):
    """Keeps a doubled name in the list of both packages."""


@mutant()
class UnregisterEndsTheRunningCall(ReRegistrationAbortsTheRunningCall):
    """Ends the running call of a tool that is unregistered."""


@mutant()
class UnregisteredNameStaysTaken(Registrations):
    """Refuses a name that was unregistered."""

    def unregister(self, instance, name):
        found = super().unregister(instance, name)
        if found:
            self.__dict__.setdefault("taken", set()).add(name)
        return found

    def claim(self, instance, entry):
        if entry.tool.name in self.__dict__.get("taken", ()):
            raise Refused("taken")
        super().claim(instance, entry)


@mutant()
class ReRegisteredToolIsTheOldOne(Registrations):
    """Puts the old entry back."""

    def unregister(self, instance, name):
        e = self.owned(instance, name)
        found = super().unregister(instance, name)
        if found:
            self.__dict__.setdefault("old", {})[name] = e
        return found

    def claim(self, instance, entry):
        old = self.__dict__.get("old", {}).get(entry.tool.name)
        super().claim(instance, old if old is not None else entry)


@mutant()
class UnregisterHidesTheNative(Registrations):
    """Forgets a shadowing entry and leaves it in the registry."""

    def unregister(self, instance, name):
        e = self.owned(instance, name)
        if e is not None and e.shadows:
            # the entry stays in the registry as a stub
            del self._entries[instance.agent, name]
            return True
        return super().unregister(instance, name)


@mutant()
class UnregisterUncoversTheFirstRegistration(Registrations):
    """Puts back what the second registration replaced."""

    def replace(self, holder, entry):
        if holder is not None:
            self.__dict__.setdefault("under", {})[entry.tool.name] = holder
        super().replace(holder, entry)

    def unregister(self, instance, name):
        found = super().unregister(instance, name)
        under = self.__dict__.get("under", {}).pop(name, None) if isinstance(name, str) else None
        if found and under is not None:
            self.claim(instance, under)
        return found


@mutant()
class LoadTimeUnregisterIgnored(Registrations):
    """Answers true and does nothing while there are no agents (root)."""

    def unregister(self, instance, name):
        if not list(self._host.agents):
            return True
        return super().unregister(instance, name)


@mutant()
class UnregisterOfNothingThrows(Registrations):
    """Raises for what is no text."""

    def unregister(self, instance, name):
        if not isinstance(name, str):
            raise TypeError("name")
        return super().unregister(instance, name)


# --- ends of packages
def ends_package(self, instance, entry, refused):
    for e in list(self):
        if e.tool.instance.package is instance.package:
            super(type(self), self).unregister(e.tool.instance, e.tool.name)
    self.__dict__.setdefault("ended", set()).add(instance.package)
    raise refused


class Ending(Registrations):
    def is_odd(self, instance, entry):
        return False

    def claim(self, instance, entry):
        if instance.package in self.__dict__.setdefault("ended", set()):
            raise Refused("its package was ended")
        if self.is_odd(instance, entry):
            self.ended.add(instance.package)
            for e in list(self):
                if e.tool.instance.package is instance.package:
                    self.unregister(e.tool.instance, e.tool.name)
            raise Refused("it ends its package")
        super().claim(instance, entry)


@mutant()
class DoubledNameEndsThePackage(Ending):
    """Takes all tools of the package away that doubles another's name, and refuses its later ones."""

    def is_odd(self, instance, entry):
        holder = self._entries.get((instance.agent, entry.tool.name))
        return holder is not None and holder.tool.instance.package is not instance.package


@mutant()
class NativeNameEndsThePackage(Ending):
    """As doubled-name-ends-the-package, for names of natives."""

    def is_odd(self, instance, entry):
        return (
            entry.tool.name in self._host.tools.view(GLOBAL).known_names
            and self._entries.get((instance.agent, entry.tool.name)) is None
        )


@mutant()
class OddRootSchemaEndsThePackage(Ending):
    """As doubled-name-ends-the-package, for root schemas whose type is not object."""

    def is_odd(self, instance, entry):
        return as_object(entry.tool.definition.get("parameters")).get("type") != "object"


@mutant()
class NativeNameRefusedInSilence(Registrations):
    """Ignores names of global natives."""

    def claim(self, instance, entry):
        if (
            entry.tool.name in self._host.tools.view(GLOBAL).known_names
            and self._entries.get((instance.agent, entry.tool.name)) is None
        ):
            return
        super().claim(instance, entry)


@mutant()
class ReservedNameEndsTheBridge(Registrations):
    """Takes every package's tools away once the host refused one."""

    def claim(self, instance, entry):
        try:
            super().claim(instance, entry)
        except Refused:
            for e in list(self):
                self.unregister(e.tool.instance, e.tool.name)
            self.__dict__["dead"] = True
            raise

    def entry(self, instance, name, definition):
        if self.__dict__.get("dead"):
            raise Refused("the bridge is gone")
        return super().entry(instance, name, definition)


@mutant()
class MissingExecuteEndsTheTurn(ToolRuns):
    """Cancels the agent where execute is missing."""

    async def execute(self, call, tool, execution):
        if not callable(tool.definition.get("execute")):
            call.agent.cancel({"kind": "user"})
        return await super().execute(call, tool, execution)


@mutant()
class OddResultEndsTheTurn(ToolRuns):
    """Cancels the agent where the answer is no object."""

    async def value(self, call, answer):
        if not isinstance(answer, dict):
            call.agent.cancel({"kind": "user"})
        return await super().value(call, answer)


@mutant()
class OddBlockEndsTheTurn(ToolRuns):
    """Cancels the agent where content is no list of text and image blocks."""

    async def value(self, call, answer):
        c = as_object(answer).get("content")
        if not isinstance(c, list) or any(not isinstance(b, dict) or b.get("type") not in ("text", "image") for b in c):
            call.agent.cancel({"kind": "user"})
        return await super().value(call, answer)


@mutant()
class OddDetailsEndTheTurn(ToolRuns):
    """Cancels the agent where details are not lossless JSON."""

    async def value(self, call, answer):
        d = as_object(answer).get("details", UNDEFINED)
        if d is not UNDEFINED:
            try:
                clone(d)
            except NotLosslessError:
                call.agent.cancel({"kind": "user"})
        return await super().value(call, answer)


@mutant()
class FieldsOfAnErrorCount(Throwing):
    """Answers the content that a thrown error carries."""

    def thrown(self, call, e):
        content = getattr(e, "fields", {}).get("content")
        if content:
            return {"content": content, "details": {}}
        raise e


@mutant()
class PictureDroppedWithoutAWord(Contents):
    """Drops pictures where there is no attachment service."""

    async def to_host(self, content, pictures):
        if self._attachments() is None:
            content = [b for b in self.blocks(content) if not (isinstance(b, dict) and b.get("type") == "image")]
        return await super().to_host(content, pictures)


@mutant()
class UnmarkedBatchRefusesTheSecond(Bridge):
    """Denies the second unmarked call of a step."""

    async def before_call(self, execution, following):
        call = self.calls.of(execution)
        batch = self.__dict__.setdefault("_batch", {})
        step = call.logged.data["step"], call.logged.data["turn"], call.agent
        tool = self.registrations.tool_of(self.host.tools.get(execution.name, call.agent.scope))
        if tool is not None and tool.definition.get("executionMode", UNDEFINED) is UNDEFINED:
            if step in batch:
                return {"kind": "deny", "reason": "one at a time"}
            batch[step] = True
        return await super().before_call(execution, following)


@mutant()
class DoubledNameListedTwice(Bridge):
    """Lists a replaced entry twice."""

    async def assemble(self, assembly, context, following):
        out = await super().assemble(assembly, context, following)
        twice = self.registrations.__dict__.get("twice", set())
        out.tools = [row for t in out.tools for row in ([t, t] if t["name"] in twice else [t])]
        return out

    class registrations_type(Registrations):
        def replace(self, holder, entry):
            if holder is not None:
                self.__dict__.setdefault("twice", set()).add(entry.tool.name)
            super().replace(holder, entry)


@mutant()
class NativeAndPackageListedBoth(Bridge):
    """Adds the shadowed native's row."""

    async def assemble(self, assembly, context, following):
        out = await super().assemble(assembly, context, following)
        for name, d in self.host.tools.view(GLOBAL).visible.items():
            if any(e.shadows and e.tool.name == name for e in self.registrations):
                out.tools = [*out.tools, {"name": d.name, "description": d.description, "parameters": d.parameters}]
        return out


@mutant()
class FailedFactorySilent(Bridge):
    """Swallows, nothing is warned."""

    async def install(self, installed, at):
        try:
            await super().install(installed, at)
        except Exception:
            pass

    class notices_type(Notices):
        def warn(self, text):
            if "failed to load" not in text:
                super().warn(text)


@mutant()
class BatchKeepsUnregisteredTools(Bridge):
    """Unregister takes effect at the next step."""

    async def before_step(self, pre_step, following):
        for entry in self.registrations.__dict__.pop("going", []):
            entry.remove()
        return await super().before_step(pre_step, following)

    class registrations_type(Registrations):
        def unregister(self, instance, name):
            entry = self.owned(instance, name)
            if entry is None:
                return False
            del self._entries[instance.agent, entry.tool.name]
            self.__dict__.setdefault("going", []).append(entry)
            return True

        def tool_of(self, definition):
            return super().tool_of(definition) or next(
                (e.tool for e in self.__dict__.get("going", []) if e.definition is definition), None
            )


@mutant()
class UnregisteredToolStillListed(Bridge):
    """ActiveTools names and all add what was unregistered."""

    class registrations_type(Registrations):
        def unregister(self, instance, name):
            entry = self.owned(instance, name)
            if entry is not None:
                self.__dict__.setdefault("ghosts", {})[name] = entry.definition
            return super().unregister(instance, name)

    class active_tools_type(ActiveTools):
        def names(self, instance):
            return [*super().names(instance), *BRIDGE["b"].registrations.__dict__.get("ghosts", {})]

        def all(self, instance):
            return [
                *super().all(instance),
                *(
                    {"name": d.name, "description": d.description, "parameters": d.parameters}
                    for d in BRIDGE["b"].registrations.__dict__.get("ghosts", {}).values()
                ),
            ]

    def __init__(self, *a):
        super().__init__(*a)
        BRIDGE["b"] = self


BRIDGE: dict[str, Bridge] = {}


@mutant()
class UnregisteredToolRuns(Bridge):
    """Unregister only hides the tool from the request's catalogue."""

    async def assemble(self, assembly, context, following):
        out = await super().assemble(assembly, context, following)
        hidden = self.registrations.__dict__.get("hidden", set())
        out.tools = [t for t in out.tools if t["name"] not in hidden]
        return out

    class registrations_type(Registrations):
        def unregister(self, instance, name):
            if self.owned(instance, name) is None or not list(self._host.agents):
                return super().unregister(instance, name)
            self.__dict__.setdefault("hidden", set()).add(name)
            return True


class _RewritesTheLog(Bridge):
    def rewritten(self, agent, data):
        raise NotImplementedError

    def agent_started(self, agent):
        append = agent.session.append

        def rewriting(kind, data, *arguments, **more):
            if kind == "tool/call":
                data = {**data, "arguments": self.rewritten(agent, data)}
            return append(kind, data, *arguments, **more)

        agent.session.append = rewriting
        super().agent_started(agent)


@mutant()
class CoercedArgumentsLogged(_RewritesTheLog):
    """Logs the arguments as the tool gets them."""

    def rewritten(self, agent, data):
        return _coerced(self, agent, data)


@mutant()
class PrepareArgumentsEditsTheLog(_RewritesTheLog):
    """Logs what prepareArguments made of the arguments."""

    def rewritten(self, agent, data):
        return _edited(self, agent, data)


def _coerced(self, agent, data):
    import json

    tool = self.registrations.tool_of(self.host.tools.get(data["name"], agent.scope))
    try:
        return json_text(self.runs.validated(tool, json.loads(data["arguments"]))) if tool else data["arguments"]
    except Exception:
        return data["arguments"]


def _edited(self, agent, data):
    import json

    tool = self.registrations.tool_of(self.host.tools.get(data["name"], agent.scope))
    if tool is None or not callable(tool.definition.get("prepareArguments")):
        return data["arguments"]
    arguments = json.loads(data["arguments"])
    tool.definition["prepareArguments"](arguments)
    return json_text(arguments)


@mutant()
class ParallelModeIgnored(Registrations):
    """Runs every package's tool alone."""

    def entry(self, instance, name, definition):
        kept = {key: value for key, value in definition.items() if key != "executionMode"}
        return super().entry(instance, name, kept)


@mutant()
class NamesLookedUpLoosely(Bridge):
    """Sets execution.name to a tool whose name differs in case or hyphen."""

    async def before_call(self, execution, following):
        for entry in self.registrations:
            if entry.tool.name.lower() == execution.name.lower().replace("-", "_"):
                execution.name = entry.tool.name
        return await super().before_call(execution, following)
