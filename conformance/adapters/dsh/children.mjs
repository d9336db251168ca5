// A child of the harness's subprocess service, from its spec to its end.

const KEPT_BYTES = 65536;
const GRACE_MS = 300;

/**
 * Run a child and tell how it ended: `{exitCode, signal, stdout, stderr}`, each stream as read from its start.
 *
 * `spec` is the harness's own but for the streams: `stdin` is its text, `stdout` and `stderr` the bytes to keep. Throws
 * what `spawn` throws; rejects as the child's `done` does.
 */
export async function spawnChild(runtime, { stdin, stdout = KEPT_BYTES, stderr = KEPT_BYTES, ...spec }) {
  const stdio = {
    stdin: stdin === undefined ? "ignore" : { data: stdin },
    stdout: { maxBytes: stdout },
    stderr: { maxBytes: stderr },
  };
  const child = runtime.spawn({ cwd: "/", graceMs: GRACE_MS, ...spec, stdio });
  const { exitCode, signal } = await child.done;
  return { exitCode, signal, stdout: child.collected.stdout.readFrom(0), stderr: child.collected.stderr.readFrom(0) };
}
