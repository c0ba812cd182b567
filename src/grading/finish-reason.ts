/** Interprets the finish reason of a rollout. */

/** With these reasons the inference server gave up. The partial text is not a completion, so it is not scored. */
const NO_COMPLETION_REASONS: ReadonlySet<string> = new Set(['abort', 'error'])

export function hasNoCompletion(finishReason: string | null | undefined): boolean {
  return NO_COMPLETION_REASONS.has(finishReason ?? '')
}
