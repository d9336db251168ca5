// A child of the harness's subprocess service, from its spec to its end.

/**
 * Run a child and tell how it ended: `{exitCode, signal, stdout, stderr}`, each stream as read from its start.
 *
 * `spec` is the harness's own, but for the streams: `stdin` a text, `stdout` and `stderr` the bytes to keep. Throws
 * what `spawn` throws; rejects as its `done` does.
 */
export async function spawnChild(runtime, { stdin, stdout = 65536, stderr = 65536, ...spec }) {
  const stdio = {
    stdin: stdin === undefined ? "ignore" : { data: stdin },
    stdout: { maxBytes: stdout },
    stderr: { maxBytes: stderr },
  };
  const child = runtime.spawn({ cwd: "/", graceMs: 5000, ...spec, stdio });
  const { exitCode, signal } = await child.done;
  return { exitCode, signal, stdout: child.collected.stdout.readFrom(0), stderr: child.collected.stderr.readFrom(0) };
}
