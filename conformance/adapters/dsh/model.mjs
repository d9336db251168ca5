// The harness's model, played by the suite: every request of the loop asks for the next assistant message.
import { encode } from "../lib/codec.mjs";

/** The provider under which the suite's model is registered; the model's name is the agent's id. */
export const PROVIDER = "conformance";

const FINISHES = { stop: "stop", calls: "tool-calls", length: "max-tokens" };

/** Make the model adapter of a host. `respond(agent, request)` asks the suite. */
export function makeModel(dsh, respond) {
  class SuiteModel extends dsh.llm.LlmAdapter {
    resolveModel(provider, model) {
      return Promise.resolve({ provider, id: model, name: model, inputModalities: ["text", "image"] });
    }

    async *stream(options) {
      const cut = new Promise((resolve, reject) => {
        const stop = () => reject(new Error("the request was aborted"));
        if (options.signal?.aborted) stop();
        else options.signal?.addEventListener("abort", stop, { once: true });
      });
      cut.catch(() => {});
      const answer = await Promise.race([respond(agentOf(options), readRequest(options)), cut]);
      if (answer.finish === "error") throw new Error("the scripted model failed");
      yield* chunks(dsh, answer);
    }
  }
  return new SuiteModel();
}

function agentOf({ model }) {
  return typeof model === "string" ? model : model.id;
}

function* chunks(dsh, { text, calls = [], finish }) {
  let index = 0;
  if (typeof text === "string") {
    yield { type: "block-start", index, blockType: "text" };
    yield { type: "text-delta", index, text };
    yield { type: "block-end", index, block: { type: "text", text } };
    index += 1;
  }
  for (const { id, name, arguments: raw } of calls) {
    yield { type: "block-start", index, blockType: "tool-call" };
    const block = { type: "tool-call", id: dsh.llm.CallId(id), name, arguments: raw };
    yield { type: "block-end", index, block };
    index += 1;
  }
  yield { type: "usage", usage: { inputTokens: 1, outputTokens: 1 } };
  yield { type: "finish", reason: { kind: FINISHES[finish ?? (calls.length > 0 ? "calls" : "stop")] } };
}

function readRequest({ tools = [], messages, system }) {
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      name: encode(name),
      description: encode(description),
      parameters: encode(parameters),
    })),
    messages: messages.map(requestMessage),
    system: typeof system === "string" ? system : textOf(system ?? []),
  };
}

function requestMessage(message) {
  const { role, content, source } = message;
  if (role !== "user" || source?.kind !== "tool") return { role, content: encode(content) };
  const [{ toolCallId, content: inner, isError }] = content;
  return { role: "tool", content: encode(inner), callId: String(toolCallId), isError: isError === true };
}

/** The text of content blocks. */
export function textOf(blocks) {
  return Array.isArray(blocks) ? blocks.map((block) => block?.text ?? "").join("") : "";
}
