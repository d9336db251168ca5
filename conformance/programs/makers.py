"""Which operations and acts a program may be made of."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.programs.themes import Theme

EVERYTHING = frozenset(
    [
        "native-tools",
        "parallel-natives",
        "late-natives",
        "scoped-natives",
        "reserved-natives",
        "multiple-agents",
        "child-agents",
        "agent-dispose",
        "resume",
        "ctx",
        "unregister-tool",
        "late-load",
        "unload",
        "reload",
        "steer",
        "follow-up",
        "cancel",
        "host-policy",
        "host-ask",
        "attachments-optional",
    ]
)
"""The capabilities that programs make use of."""


class Maker:
    """Which operations and acts there are for some capabilities: as often in the list as they are to be drawn."""

    def __init__(self, capabilities: frozenset[str], theme: Theme) -> None:
        def weighed(*rows: tuple[str, int, str]) -> Sequence[str]:
            return [
                name
                for name, weight, need in rows
                if need in ("", *capabilities)
                for _ in range(weight * theme.more.get(name, 1))
            ]

        self.theme = theme
        self.capabilities = capabilities
        self.first = weighed(
            ("native", 2, "native-tools"),
            ("package", 5, ""),
            ("prompt", 5, ""),
            ("pi", 5, ""),
            ("policy", 3, "host-policy"),
            ("agent", 3, "multiple-agents"),
            ("services", 3, "attachments-optional"),
        )
        """Operations before the stage has opened; :attr:`later` after that."""
        self.later = weighed(
            ("native", 3, "late-natives"),
            ("package", 3, "late-load"),
            ("prompt", 9, ""),
            ("pi", 9, ""),
            ("policy", 4, "host-policy"),
            ("agent", 2, "multiple-agents"),
            ("unload", 1, "unload"),
            ("load_again", 1, "unload"),
            ("reload", 1, "reload"),
            ("drop-native", 1, "late-natives"),
            ("drop-agent", 1, "agent-dispose"),
            ("say", 1, "steer"),
            ("cancel", 1, "cancel"),
        )
        self.act = weighed(
            ("setActiveTools", 4, ""),
            ("getActiveTools", 3, ""),
            ("getAllTools", 2, ""),
            ("registerTool", 3, ""),
            ("unregisterTool", 1, "unregister-tool"),
            ("cancel", 1, "cancel"),
            ("steer", 2, "steer"),
            ("follow_up", 2, "follow-up"),
            ("policy", 1, "host-policy"),
            ("native", 1, "late-natives"),
            ("drop-native", 1, "late-natives"),
            ("unload", 1, "unload"),
            ("on", 2, ""),
            ("abort", 1, "ctx"),
        )
        self.call = weighed(
            ("setActiveTools", 4, ""),
            ("getActiveTools", 2, ""),
            ("getAllTools", 2, ""),
            ("registerTool", 4, ""),
            ("unregisterTool", 2, "unregister-tool"),
            ("on", 1, ""),
        )
