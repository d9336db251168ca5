// Sees every child process this process starts, whoever starts it, without changing how it runs.
import { ChildProcess } from "node:child_process";

/**
 * Call `seen({argv, cwd, pid})` for each child that started, from now on. Returns the live set of running children.
 *
 * Every asynchronous way to start a child goes through the method that is wrapped here.
 */
export function observeSpawns(seen) {
  const running = new Set();
  const { spawn } = ChildProcess.prototype;
  ChildProcess.prototype.spawn = function observed(options) {
    const result = spawn.call(this, options);
    if (this.pid === undefined) return result;
    running.add(this);
    this.once("exit", () => running.delete(this));
    seen({ argv: [...(options?.args ?? [])], cwd: String(options?.cwd ?? process.cwd()), pid: this.pid });
    return result;
  };
  return running;
}
