// The host's subprocess service under observation, and one whose children live in the suite's script.

/** The harness's local service; `host.providing` is true while it starts a child, and `host.spawned` hears of it. */
export function observedProvider(host) {
  return class ObservedProvider extends host.dsh.subprocessLocal.default {
    spawn(spec) {
      host.providing = true;
      try {
        const child = super.spawn(spec);
        host.spawned(spec, child.pid);
        return child;
      } finally {
        host.providing = false;
      }
    }
  };
}

/** A service that asks the suite what becomes of each child; it knows every program by its name. */
export function scriptedProvider(host) {
  return class ScriptedProvider extends host.dsh.subprocess.default {
    async resolveExecutable(command) {
      return command;
    }

    spawn(spec) {
      const { argv, cwd, stdio, signal } = spec;
      let end;
      const told = new Promise((resolve) => (end = resolve));
      signal?.addEventListener("abort", () => end(), { once: true });
      if (signal?.aborted) end();
      const texts = { stdout: "", stderr: "" };
      const invocation = host.stage.ids.next("s");
      const asked = host.stage.ask("process.spawn", { argv: [...argv], invocation, cwd, maxBytes: boundsOf(stdio) });
      const done = asked.then(async ({ stdout = "", stderr = "", exitCode = 0, signal: by = null, fails, runs }) => {
        if (fails !== undefined && fails !== null) throw new Error(fails);
        Object.assign(texts, { stdout, stderr });
        if (runs) await told;
        return runs || by !== null ? { exitCode: null, signal: by ?? "SIGTERM" } : { exitCode, signal: null };
      });
      done.catch(() => {});
      const collected = {};
      for (const stream of ["stdout", "stderr"]) {
        if (typeof stdio[stream] !== "object") continue;
        const read = (at) => ({ text: texts[stream].slice(at), nextOffset: texts[stream].length, lossy: false });
        collected[stream] = { readFrom: read };
      }
      const ended = () => done.then(() => {}, () => {});
      return { collected, done, terminate: end, waitForExit: ended, terminateForHostExit: end };
    }

    spawnTerminal() {
      throw new Error("a scripted provider has no terminals");
    }
  };
}

/** How many bytes of each collected stream a child was asked for. */
export function boundsOf(stdio) {
  const bounds = {};
  for (const stream of ["stdout", "stderr"]) {
    if (typeof stdio[stream] === "object") bounds[stream] = stdio[stream].maxBytes;
  }
  return bounds;
}
