// Abort signals that the suite makes and fires by an id of its own.

export class Signals {
  #controllers = new Map();

  /** Make a signal under `id`. */
  create(id) {
    this.#controllers.set(id, new AbortController());
  }

  /** Abort a signal made before. */
  abort(id, reason = "aborted") {
    const controller = this.#controllers.get(id);
    if (controller === undefined) throw new Error(`no signal ${JSON.stringify(id)} was made with signal.create`);
    controller.abort(new Error(reason));
  }

  /** The AbortSignal of an id, or undefined. */
  get(id) {
    return this.#controllers.get(id)?.signal;
  }

  /** The id of a signal made here, or undefined. */
  idOf(signal) {
    for (const [id, controller] of this.#controllers) if (controller.signal === signal) return id;
    return undefined;
  }
}
