/** What the reason why a generation ended says: the model ended it, a limit cut it off, or it failed and there is no completion. */

/** A limit on tokens cut the text off. */
const CUT_OFF = [
  'length',
  'max_tokens',
  'max_output_tokens',
  'max_length',
  'model_length',
  'token_limit',
  'max_new_tokens',
]
/** The model ended its text, or a provider rejected it: a refusal stays scored, so that no policy can dodge a task by one. */
const ENDED = [
  'stop eos eos_token end end_turn end_of_turn endoftext stop_token stop_sequence stop_str complete completed',
  'done finish finished pause_turn repetition tool_call tool_calls tool_use function_call malformed_function_call',
  'too_many_tool_calls content_filter content_filtered safety image_safety sensitive prohibited_content',
  'recitation blocklist spii language refusal guardrail_intervened',
].flatMap((words) => words.split(' '))
const CUT_OFF_REASONS: ReadonlySet<string> = new Set(CUT_OFF)
const SPOKEN_REASONS: ReadonlySet<string> = new Set([...CUT_OFF, ...ENDED])

/** Whether the generation failed. No reason counts as an end; a reason that is not known counts as a failure. */
export function hasNoCompletion(finishReason: string | null | undefined): boolean {
  return Boolean(finishReason) && !SPOKEN_REASONS.has(normalize(finishReason ?? ''))
}

/** Whether a limit on tokens cut the completion off. */
export function isCutOff(finishReason: string | null | undefined): boolean {
  return CUT_OFF_REASONS.has(normalize(finishReason ?? ''))
}

/** `MAX_TOKENS`, `FinishReason.STOP` and `end-turn` are the same as in lower case with underscores. */
function normalize(reason: string): string {
  return reason
    .trim()
    .toLowerCase()
    .replace(/^finish_?reason[._]/, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
}
