"""What an implementation may be able to do, named once: rules state the names in ``needs``, adapters declare them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

CAPABILITIES: Mapping[str, str] = MappingProxyType(
    {
        "native-tools": "The operator can put native tools of the host on a stage before it opens.",
        "parallel-natives": "A native tool can be marked as safe to run beside others of its batch.",
        "late-natives": "Native tools can be registered and unregistered while the host runs.",
        "scoped-natives": "A native tool can be registered in one agent's own scope.",
        "reserved-natives": "The host has a reserved transport tool that the operator can put on a stage.",
        "multiple-agents": "More than one agent can live on one host at the same time.",
        "child-agents": "An agent can be created as the child of another.",
        "agent-dispose": "An agent can be ended while the host goes on.",
        "resume": "An agent can go on with the session of one that has ended.",
        "package-tools-restrictable": "Tools that a package registers can be switched off with setActiveTools.",
        "unregister-tool": "Packages find a pi.unregisterTool.",
        "late-load": "A package can be loaded while agents live.",
        "unload": "A package can be removed while agents live.",
        "reload": "Packages can be loaded anew while agents live, as with Pi's reload.",
        "steer": "Input can be added to a running turn, before its next request.",
        "follow-up": "Input can be queued for after the running turn's work.",
        "cancel": "The operator can cancel a running turn.",
        "operator-bash": "The operator has a command surface of their own, the ! and !! of Pi.",
        "host-policy": "The operator can put listeners before and after the bridge's own that allow, deny or throw.",
        "host-ask": "A policy listener can ask the user, and the host answers through an approval service.",
        "attachments": "Pictures a tool returns reach the model, by the host's attachment service where it has one.",
        "attachments-optional": "A stage can open without the host's attachment service.",
        "exec": "pi.exec starts a program.",
        "subprocess": "Programs that pi.exec starts belong to a subprocess service of the host.",
        "subprocess-scripted": "The host's subprocess service can be replaced by one the suite scripts.",
        "subprocess-optional": "A stage can open without the host's subprocess service.",
        "spawn-observer": "Every child process the implementation starts is noted, whoever starts it.",
        "durable-log": "Entries of the durable log are noted in order, at the moment each is written.",
        "notices": "What the implementation reports to its operator is noted, with channel and level.",
        "ctx": "The context object of an open handler or tool can be called.",
        "host-seams": "The host's own seams (registries, waterfalls, inbox) can be called and listened on.",
    }
)
"""Every capability: its name, and in one sentence what an implementation that declares it can do."""


def unknown(names: Iterable[str]) -> list[str]:
    """Return the names that are no capability, in the order given."""
    return [name for name in names if name not in CAPABILITIES]
