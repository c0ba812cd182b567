/** The text is no value, or too big a one: an answer that is wrong whatever it means. */
export class UnsupportedExpressionError extends Error {}
