"""What a declared time limit does, without the policy and with it."""

from __future__ import annotations

import asyncio
from typing import Any

from reference_bridge.host import enforce_timeouts
from tests.fast.small_host import Stage, call, calls, staged


async def until_aborted(args: Any, exec: Any) -> str:
    await exec.signal.wait()
    if args.get("raise"):
        raise RuntimeError("saw abort")
    return "late"


@staged()
async def test_a_time_limit_is_only_declared(stage: Stage) -> None:
    async def slow(args: Any, exec: Any) -> str:
        try:
            async with asyncio.timeout(0.03):
                await exec.signal.wait()
        except TimeoutError:
            return "not told"
        return "told"

    stage.tool("s", slow, timeout_ms=1)
    assert (await stage.one("s")).text == "not told"


@staged()
async def test_with_the_policy_a_body_is_told_and_its_result_is_a_timeout(stage: Stage) -> None:
    enforce_timeouts(stage.host)
    stage.tool("s", until_aborted, timeout_ms=20)
    stage.tool("quick", "ran", timeout_ms=5000)
    late, raised, quick = await stage.one("s"), await stage.one("s", {"raise": True}), await stage.one("quick")
    assert late.text == raised.text == "Error: tool call timed out after 20ms"
    assert late.event.data["error"] == {"name": "ToolTimeoutError", "code": "TOOL_TIMEOUT"}
    assert quick.text == "ran"


@staged()
async def test_a_body_that_ignores_the_limit_is_still_waited_for(stage: Stage) -> None:
    ended: list[str] = []

    async def deaf(args: Any, exec: Any) -> str:
        await exec.signal.wait()
        for _ in range(10):
            await asyncio.sleep(0)
        ended.append("body")
        return "ignored"

    enforce_timeouts(stage.host)
    stage.tool("s", deaf, timeout_ms=1)
    assert (await stage.one("s")).code == "TOOL_TIMEOUT"
    assert ended == ["body"]


@staged()
async def test_a_cancel_still_reaches_a_body_with_a_limit(stage: Stage) -> None:
    started = asyncio.Event()

    async def body(args: Any, exec: Any) -> str:
        started.set()
        return await until_aborted(args, exec)

    enforce_timeouts(stage.host)
    stage.tool("s", body, timeout_ms=60_000)
    stage.model.replies = [calls(call("s"))]
    stage.agent.followup("go")
    await started.wait()
    stage.agent.cancel()
    await stage.agent.when_idle()
    assert stage.results[0].code == "ABORTED"
