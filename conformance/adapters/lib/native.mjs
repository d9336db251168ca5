// The body of a host's native tool: it asks the suite what to do.
import { decode, encode } from "./codec.mjs";

/**
 * Run one native body. Returns `{content, conclude, defer}` (content in blocks), or throws what it is told to throw.
 *
 * `fields` (ctx, onUpdate …) are kept with the invocation.
 */
export async function runNative(stage, { tool, callId, args, agent, scope, ...fields }) {
  const { invocations, signals, trace } = stage;
  const record = invocations.open({ agent, ...fields });
  const place = { agent, callId };
  let threw = {};
  try {
    const answer = await stage.ask("native.execute", {
      tool,
      callId: String(callId),
      arguments: encode(args, signals),
      invocation: record.id,
      agent: agent ?? undefined,
      scope: scope ?? undefined,
    });
    if (answer.throws !== undefined) throw decode(answer.throws, signals);
    const text = [{ type: "text", text: answer.text ?? "" }];
    const content = answer.content === undefined ? text : decode(answer.content, signals);
    return { content, conclude: answer.conclude === true, defer: answer.defer ?? undefined };
  } catch (error) {
    threw = { threw: encode(error, signals) };
    throw error;
  } finally {
    trace.noteWire("native.exit", place, { invocation: record.id, tool, ...threw });
    invocations.close(record);
  }
}
