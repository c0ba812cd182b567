/** Finish reasons of a rollout. */

/** With these the model's server gave up: whatever text came is not a completion, and no score would be fair. */
const NO_COMPLETION_REASONS: ReadonlySet<string> = new Set(['abort', 'error'])

export function hasNoCompletion(finishReason: string | null | undefined): boolean {
  return NO_COMPLETION_REASONS.has(finishReason ?? '')
}
