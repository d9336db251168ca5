// The frame of an adapter: the connection, one stage at a time, and the methods that need nothing of the program.
import { Connection, protectStdout } from "./connection.mjs";
import { outcomeOf } from "./outcome.mjs";
import { decode } from "./codec.mjs";
import { Ids } from "./trace.mjs";
import { Stage } from "./stage.mjs";

const LEVELS = { warn: "warn", error: "error" };

/**
 * Serve one program on stdin and stdout until its input ends, then end the process.
 *
 * `initialize(params)` answers the handshake; `open(stage, params)` makes a fresh host; `methods` maps the program's
 * own methods to functions of (host, params); `close(host)` ends a host and may return the result of `stage.close`;
 * `end()` releases what outlives stages. Each may be asynchronous.
 */
export async function serve({ initialize, open, methods, close, end = () => {} }) {
  let current;
  const ids = new Ids();
  const require = () => {
    if (current === undefined) throw new Error("no stage is open");
    return current;
  };
  const writeLine = protectStdout((level, text) => {
    if (level in LEVELS) current?.stage.trace.notice("console", LEVELS[level], text);
  });
  const closeStage = async () => {
    if (current === undefined) return undefined;
    const { stage, host } = current;
    current = undefined;
    stage.close();
    return host === undefined ? undefined : close(host);
  };
  const connection = new Connection(writeLine, {
    initialize,
    ping: () => ({}),
    async "stage.open"(params) {
      if (current !== undefined) throw new Error("a stage is open already; close it first");
      const opened = { stage: new Stage(connection, ids) };
      current = opened;
      try {
        opened.host = await open(opened.stage, params);
      } catch (error) {
        await closeStage();
        throw error;
      }
    },
    "stage.close": closeStage,
    "signal.create": ({ signal }) => require().stage.signals.create(signal),
    "signal.abort": ({ signal, reason }) => require().stage.signals.abort(signal, reason),
    "pi.call": (params) => require().stage.packages.call(params),
    "ctx.call": (params) => callCtx(require().stage, params),
    "tool.update": (params) => update(require().stage, params),
    ...Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [name, (params) => method(require().host, params)]),
    ),
  });
  for (const kind of ["uncaughtException", "unhandledRejection"]) {
    process.on(kind, (error) => {
      const text = `${kind}: ${error?.stack ?? error}`;
      process.stderr.write(`${text}\n`);
      current?.stage.trace.note("crash", { text });
    });
  }
  await connection.listen(process.stdin);
  await closeStage();
  await end();
  process.exit(0);
}

/** Call `ctx.<call>`, or read it where it is no function; a dotted name reaches into what it holds. */
function callCtx({ invocations, signals }, { invocation, call, args = [] }) {
  const record = invocations.get(invocation);
  return outcomeOf(
    () =>
      record.run(() => {
        const path = call.split(".");
        const holder = path.slice(0, -1).reduce((value, key) => value[key], record.ctx);
        const member = holder[path.at(-1)];
        return typeof member === "function" ? member.apply(holder, args.map((arg) => decode(arg, signals))) : member;
      }),
    signals,
  );
}

function update({ invocations, signals }, { invocation, update }) {
  const record = invocations.get(invocation);
  const args = update === undefined ? [] : [decode(update, signals)];
  return outcomeOf(() => record.run(() => record.onUpdate(...args)), signals);
}
