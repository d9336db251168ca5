// Values on the wire: what JSON lacks travels as a tagged object {"$": …}, both ways, by value.
import { createHash } from "node:crypto";

const LONG_TEXT_BYTES = 1024 * 1024;
const EDGE_CHARACTERS = 256;

const PLAIN_TAGS = {
  undefined: () => undefined,
  NaN: () => NaN,
  Infinity: () => Infinity,
  "-Infinity": () => -Infinity,
  "-0": () => -0,
  bigint: (tag) => BigInt(tag.digits ?? 0),
  function: () => function conformance() {},
  symbol: () => Symbol("conformance"),
  date: () => new Date(0),
  error: decodeError,
  repeat: (tag) => String(tag.text).repeat(Number(tag.times)),
  escaped: (tag) => JSON.parse(`"${tag.text}"`),
};

const BUILTIN_ERRORS = { Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError };

function decodeError(tag, decodeInner) {
  const Kind = BUILTIN_ERRORS[tag.name] ?? Error;
  const error = new Kind(tag.message ?? "");
  if (tag.name !== undefined && error.name !== tag.name) error.name = tag.name;
  for (const [key, value] of Object.entries(tag)) {
    if (key !== "$" && key !== "name" && key !== "message") error[key] = decodeInner(value);
  }
  return error;
}

/** Put a property as own data, whatever its name: plain assignment to `__proto__` would change the prototype. */
export function put(target, key, value) {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/**
 * Turn a wire value into a fresh JavaScript value; the wire value is left alone.
 *
 * `signals.get(id)` finds the AbortSignal of a `signal` tag. A `cycle` tag becomes the object or array that holds it,
 * and at the top an object that holds itself. An object whose `$` is no known tag is an ordinary object.
 */
export function decode(wire, signals) {
  const inner = (value, holder) => {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) {
      const list = [];
      for (const item of value) list.push(inner(item, list));
      return list;
    }
    const tag = Object.hasOwn(value, "$") ? value.$ : undefined;
    if (typeof tag === "string") {
      if (Object.hasOwn(PLAIN_TAGS, tag)) return PLAIN_TAGS[tag](value, (part) => inner(part, value));
      if (tag === "cycle") return holder ?? selfHolding();
      if (tag === "signal") return requireSignal(signals, value.id);
    }
    const object = {};
    for (const key of Object.keys(value)) put(object, key, inner(value[key], object));
    return object;
  };
  return inner(wire, undefined);
}

function selfHolding() {
  const object = {};
  object.self = object;
  return object;
}

function requireSignal(signals, id) {
  const signal = signals?.get(id);
  if (signal === undefined) throw new Error(`no signal ${JSON.stringify(id)} was made with signal.create`);
  return signal;
}

/** Turn any JavaScript value into a wire value that shares nothing with it. Never throws because of a value. */
export function encode(value, signals) {
  return encodeInner(value, [], signals);
}

function encodeInner(value, holders, signals) {
  switch (typeof value) {
    case "string":
      return encodeText(value);
    case "boolean":
      return value;
    case "number":
      return encodeNumber(value);
    case "undefined":
      return { $: "undefined" };
    case "bigint":
      return { $: "bigint", digits: value.toString() };
    case "function":
      return { $: "function" };
    case "symbol":
      return { $: "symbol" };
    default:
      return value === null ? null : encodeObject(value, holders, signals);
  }
}

function encodeNumber(value) {
  if (Number.isNaN(value)) return { $: "NaN" };
  if (value === Infinity || value === -Infinity) return { $: String(value) };
  return Object.is(value, -0) ? { $: "-0" } : value;
}

function encodeText(text) {
  // UTF-8 needs at most three bytes for one UTF-16 unit, so most strings need no counting.
  const bytes = text.length * 3 <= LONG_TEXT_BYTES ? 0 : Buffer.byteLength(text);
  if (bytes <= LONG_TEXT_BYTES) {
    // JSON text cannot carry half a surrogate pair through every decoder.
    return text.isWellFormed() ? text : { $: "escaped", text: JSON.stringify(text).slice(1, -1) };
  }
  return {
    $: "text",
    bytes,
    sha256: createHash("sha256").update(text, "utf8").digest("hex"),
    head: text.slice(0, EDGE_CHARACTERS).toWellFormed(),
    tail: text.slice(-EDGE_CHARACTERS).toWellFormed(),
  };
}

function encodeObject(value, holders, signals) {
  if (holders.includes(value)) return { $: "cycle" };
  if (value instanceof Error) return { $: "error", ...describeError(value) };
  if (value instanceof Date) return { $: "date" };
  if (value instanceof AbortSignal) return { $: "signal", id: signals?.idOf(value) ?? "" };
  holders.push(value);
  try {
    if (Array.isArray(value)) return Array.from(value, (item) => encodeInner(item, holders, signals));
    const toJson = read(value, "toJSON");
    if (typeof toJson === "function") return encodeInner(toJson.call(value), holders, signals);
    const object = {};
    for (const key of Object.keys(value)) {
      put(object, key.toWellFormed(), encodeInner(read(value, key), holders, signals));
    }
    return object;
  } catch (error) {
    return encodeInner(error, holders, signals);
  } finally {
    holders.pop();
  }
}

/** Read a property; what a getter throws is the value. */
function read(object, key) {
  try {
    return object[key];
  } catch (error) {
    return error;
  }
}

/** Name and message of something thrown, as text. */
export function describeError(error) {
  const text = (value) => (typeof value === "string" ? value : String(value)).toWellFormed();
  return { name: text(read(error, "name") ?? "Error"), message: text(read(error, "message") ?? "") };
}

/** The name of a value's type as JavaScript code would ask for it. */
export function typeName(value) {
  if (value === null) return "null";
  if (value instanceof AbortSignal) return "AbortSignal";
  return Array.isArray(value) ? "array" : typeof value;
}
