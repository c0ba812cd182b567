/** What a call requires of the run that it names: that it exists at all, or that it is one of these incarnations. */
export type RunCondition = 'exists' | readonly string[]
