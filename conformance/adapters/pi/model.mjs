// Pi's model provider, played by the suite: every request of the loop asks for the next assistant message.
import { encode } from "../lib/codec.mjs";

const MODEL = {
  id: "scripted",
  name: "Scripted",
  api: "conformance-api",
  provider: "conformance",
  baseUrl: "http://127.0.0.1:9/",
  reasoning: false,
  input: ["text", "image"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000_000,
  maxTokens: 100_000,
};

const USAGE = {
  input: 1,
  output: 1,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 2,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

const STOP_REASONS = { stop: "stop", calls: "toolUse", length: "length", error: "error" };

/** One provider for all sessions of the process; a request finds its agent by the session's id. */
export class Models {
  #program;
  #agents = new Map();
  #register = () => {};

  constructor(program) {
    this.#program = program;
  }

  /** Make the provider. Returns the part of createAgentSession's options that names model and credentials. */
  async create(agentDir) {
    const { coding, ai } = this.#program;
    const provider = {
      baseUrl: MODEL.baseUrl,
      apiKey: "none",
      api: MODEL.api,
      models: [MODEL],
      streamSimple: (model, context, options) => this.#stream(context, options),
    };
    if (coding.ModelRuntime === undefined) {
      const authStorage = coding.AuthStorage.inMemory();
      const modelRegistry = coding.ModelRegistry.inMemory(authStorage);
      this.#register = () => modelRegistry.registerProvider(MODEL.provider, provider);
      this.#register();
      return { authStorage, modelRegistry };
    }
    const modelRuntime = await coding.ModelRuntime.create({
      credentials: new ai.InMemoryCredentialStore(),
      modelsPath: null,
      modelsStorePath: `${agentDir}/models-store.json`,
      allowModelNetwork: false,
    });
    modelRuntime.registerProvider(MODEL.provider, provider);
    return { modelRuntime };
  }

  /** Before 0.84 a session's reload forgets the providers of the whole process, those of the registry included. */
  renew() {
    this.#register();
  }

  /** The model a session is given. */
  get model() {
    return { ...MODEL };
  }

  /** Let `respond(request)` answer for a session; returns the function that ends it. */
  bind(sessionId, respond) {
    this.#agents.set(sessionId, respond);
    return () => this.#agents.delete(sessionId);
  }

  #stream(context, options) {
    const stream = this.#program.ai.createAssistantMessageEventStream();
    const respond = this.#agents.get(options?.sessionId);
    const request = readRequest(this.#program.ai, context);
    const answer = respond === undefined ? Promise.reject(new Error("no agent has this session")) : respond(request);
    const cut = new Promise((resolve) => {
      if (options?.signal?.aborted) resolve();
      else options?.signal?.addEventListener("abort", resolve, { once: true });
    });
    void Promise.race([
      answer.then((said) => this.#message(said)),
      cut.then(() => plainMessage([], "aborted", "Request was aborted")),
    ])
      .catch((error) => plainMessage([], "error", error.message))
      .then((message) => push(stream, message));
    return stream;
  }

  #message({ text, calls = [], finish }) {
    const content = [];
    if (typeof text === "string") content.push({ type: "text", text });
    for (const { id, name, arguments: raw } of calls) {
      content.push({ type: "toolCall", id, name, ...parseArguments(this.#program.ai, raw) });
    }
    const reason = STOP_REASONS[finish ?? (calls.length > 0 ? "calls" : "stop")];
    return plainMessage(content, reason, reason === "error" ? "the scripted model failed" : undefined);
  }
}

/**
 * What Pi's own providers make of the argument text of a finished call.
 *
 * Before 1.3.0 they keep what a tolerant parser could read, `{}` at worst; since then anything but a JSON object is an
 * `argumentsError`. Both parsers are Pi's own, so a call here runs exactly as with a real provider.
 */
function parseArguments(ai, raw) {
  if (ai.parseToolCallArguments !== undefined) return ai.parseToolCallArguments(raw);
  return { arguments: ai.parseStreamingJson(raw) };
}

function plainMessage(content, stopReason, errorMessage) {
  const { api, provider, id: model } = MODEL;
  const message = { role: "assistant", content, api, provider, model, usage: USAGE, stopReason, timestamp: Date.now() };
  return errorMessage === undefined ? message : { ...message, errorMessage };
}

function push(stream, message) {
  if (message.stopReason === "error" || message.stopReason === "aborted") {
    stream.push({ type: "error", reason: message.stopReason, error: message });
  } else {
    stream.push({ type: "start", partial: { ...message, content: [] } });
    stream.push({ type: "done", reason: message.stopReason, message });
  }
  stream.end(message);
}

/** What a request carries, in wire form. Since 0.86 prompt and catalogue travel as messages of the transcript. */
function readRequest(ai, context) {
  const hasOwnFields = context.tools !== undefined || context.systemPrompt !== undefined;
  const inMessages = !hasOwnFields && ai.getCurrentTools !== undefined;
  const tools = inMessages ? ai.getCurrentTools(context.messages) : (context.tools ?? []);
  const system = inMessages ? ai.getCurrentSystemPrompt(context.messages) : context.systemPrompt;
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      name: encode(name),
      description: encode(description),
      parameters: encode(parameters),
    })),
    messages: context.messages.filter((message) => message.role !== "system").map(requestMessage),
    system: String(system ?? "").toWellFormed(),
  };
}

function requestMessage(message) {
  const content = encode(message.content);
  if (message.role !== "toolResult") return { role: message.role, content };
  return { role: "tool", content, callId: String(message.toolCallId), isError: Boolean(message.isError) };
}
