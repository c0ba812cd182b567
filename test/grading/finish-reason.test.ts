/** Which finish reasons mean that the model ended its text, and which that the generation failed. */
import { expect, it } from 'vitest'
import { hasNoCompletion, isCutOff } from '../../src/grading/finish-reason.ts'

it('an end, a limit and a refusal are spoken in any case and form; all else is a failure', () => {
  for (const reason of [
    null,
    undefined,
    '',
    'stop',
    'STOP',
    'FinishReason.STOP',
    'end-turn',
    'eos',
    'tool_calls',
    'content_filter',
  ])
    expect(hasNoCompletion(reason), String(reason)).toBe(false)
  for (const reason of ['abort', 'ABORT', 'error', 'network_error', 'timeout', 'cancelled', 'failed', 'no idea'])
    expect(hasNoCompletion(reason), reason).toBe(true)
  for (const reason of ['length', 'MAX_TOKENS', 'max_output_tokens', 'FINISH_REASON.LENGTH'])
    expect(isCutOff(reason)).toBe(true)
  expect(isCutOff('stop')).toBe(false)
})
