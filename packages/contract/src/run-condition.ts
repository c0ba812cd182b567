/** Precondition of a call on its run: that it exists, or that it is one of these incarnations. */
export type RunCondition = 'exists' | readonly string[]
