/** Why there is no completion of a model. Apart from what calls it, whose libraries are loaded with the first model. */

/** Signals that no completion arrived after all attempts. The message says why and never contains the API key. */
export class ModelRequestError extends Error {}

/** Signals that the model cannot be called at all. The message says why and what to do, and never contains the key. */
export class ModelUnavailableError extends Error {}

/** Signals that the client was closed before an answer came, which says nothing about the model. Another client may be opened. */
export class ModelClientClosedError extends Error {}

/** Signals a request that the server must not make; retrying does not help. */
export class BlockedRequestError extends Error {}

/** Signals that this applies to every request to the model. */
export class UncallableModelError extends BlockedRequestError {}
