"""A headless Chromium that a test can drive: open a page, press keys, look, and hear of every request it makes."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DEADLINE = 60.0
"""Seconds after which a browser that does not answer is given up."""

HAND_OVER = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
"""A browser on a pipe reads from its descriptor 3 and writes to 4."""


class Browser:
    """One page in one browser, spoken to over a pipe by the DevTools protocol."""

    def __init__(self, process: subprocess.Popen[bytes], inbox: int, outbox: int) -> None:
        self._process = process
        self._inbox = inbox
        self._outbox = outbox
        self._number = 0
        self._held = b""
        self._session = ""
        self.requests: list[str] = []
        self.said: list[str] = []
        target = self._ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._ask(f"{domain}.enable")
        self._ask("Performance.enable", {"timeDomain": "threadTicks"})

    def screen(self, width: int, height: int = 900, *, dark: bool = False, script: bool = True) -> None:
        """Set size, colours and whether pages may run scripts."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self._ask("Emulation.setEmulatedMedia", {"features": [scheme, still]})
        self._ask("Emulation.setScriptExecutionDisabled", {"value": not script})

    def open(self, path: Path, address: str = "") -> None:
        """Open a file and wait until it is loaded."""
        self._events: list[str] = []
        # Only another address is a navigation; a fragment alone is none.
        self._ask("Page.navigate", {"url": "about:blank"})
        self._wait("Page.loadEventFired")
        self._ask("Page.navigate", {"url": f"{path.resolve().as_uri()}{address}"})
        self._wait("Page.loadEventFired")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self._ask("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def until(self, condition: str, seconds: float = 10.0) -> bool:
        """Wait until an expression holds in the page; whether it did before the time was over."""
        look = f"({condition}) ? done(true) : performance.now() > end ? done(false) : setTimeout(look, 10)"
        wait = (
            f"new Promise(done => {{ const end = performance.now() + {seconds * 1000}, look = () => {look}; look(); }})"
        )
        return bool(self.run(wait))

    def worked(self) -> float:
        """Seconds of processor time that the page's main thread has taken since the browser started."""
        metrics = {each["name"]: each["value"] for each in self._ask("Performance.getMetrics")["metrics"]}
        return float(metrics["TaskDuration"])

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        base = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        if text or key == "Enter":
            base["text"] = text or "\r"
        self._ask("Input.dispatchKeyEvent", {"type": "keyDown", **base})
        self._ask("Input.dispatchKeyEvent", {"type": "keyUp", **{k: v for k, v in base.items() if k != "text"}})

    def tree(self) -> list[dict[str, Any]]:
        """What a screen reader is told of, as role and name."""
        # While it is on, the tree is kept up at a cost that a page without a screen reader does not have.
        self._ask("Accessibility.enable")
        nodes = self._ask("Accessibility.getFullAXTree")["nodes"]
        self._ask("Accessibility.disable")
        return [
            {"role": node.get("role", {}).get("value", ""), "name": node.get("name", {}).get("value", "")}
            for node in nodes
            if not node.get("ignored")
        ]

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Write what is on the screen, or the whole page, as PNG."""
        given: dict[str, Any] = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self._ask("Page.getLayoutMetrics")["cssContentSize"]
            given["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
        path.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot", given)["data"]))

    def _ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params or {}}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._outbox, json.dumps(message).encode() + b"\0")
        number = self._number
        for answer in self._messages():
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
        raise AssertionError("unreachable")

    def _wait(self, event: str) -> None:
        if event in self._events:
            self._events.clear()
            return
        for answer in self._messages():
            if answer.get("method") == event:
                self._events.clear()
                return

    def _messages(self) -> Iterator[dict[str, Any]]:
        until = time.monotonic() + DEADLINE
        while True:
            while b"\0" in self._held:
                line, _, self._held = self._held.partition(b"\0")
                message = json.loads(line)
                self._note(message)
                yield message
            if not select.select([self._inbox], [], [], max(0.0, until - time.monotonic()))[0]:
                raise AssertionError(f"the browser has not answered for {DEADLINE:g} s")
            data = os.read(self._inbox, 1 << 20)
            if not data:
                raise AssertionError("the browser is gone")
            self._held += data

    def _note(self, message: dict[str, Any]) -> None:
        method, params = message.get("method", ""), message.get("params", {})
        if method == "Page.loadEventFired":
            self._events.append(method)
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.said.append(params["exceptionDetails"].get("text", "exception"))
        elif method == "Log.entryAdded":
            self.said.append(params["entry"]["text"])


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser whose profile lies in ``folder``; it is gone at the end, whatever happens."""
    assert CHROMIUM is not None
    to_browser, outbox = os.pipe()
    inbox, from_browser = os.pipe()

    arguments = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--remote-debugging-pipe",
        f"--user-data-dir={folder}",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", HAND_OVER, str(to_browser), str(from_browser), *arguments],
        pass_fds=(to_browser, from_browser),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield Browser(process, inbox, outbox)
    finally:
        os.close(outbox)
        os.close(inbox)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
