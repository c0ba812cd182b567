/** The text is no value, or too big a one: an answer that is wrong whatever it means. */
export class UnsupportedExpressionError extends Error {}

/** A double's range, and the bound that `src/engine/python/safe_eval.py` has. */
export const MAX_BITS = 1024
