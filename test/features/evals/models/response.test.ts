import { expect, it } from 'vitest'
import { findProviderFailure, parseModelResponse } from '../../../../src/features/evals/models/response.ts'
import { buildAssistantMessage } from '../../../../src/features/evals/samples/output.ts'
import { getFinalText } from '../../../../src/grading/answer-extraction.ts'

const choices = [{ message: { content: 'yes' }, finish_reason: 'stop' }]

it('a usage that is no count of tokens is ignored, and the completion is not', () => {
  for (const usage of [{ completion_tokens: -1 }, { completion_tokens: 5.5 }, { completion_tokens: '7' }, {}, null, 7])
    expect([usage, parseModelResponse({ choices, usage })]).toEqual([usage, { content: 'yes', finish_reason: 'stop' }])
  expect(parseModelResponse({ choices, usage: { completion_tokens: 7 } })?.length_tokens).toBe(7)
  const counted = [{ ...choices[0], token_ids: [1, 2, 3] }]
  expect(parseModelResponse({ choices: counted, usage: { completion_tokens: -1 } })?.length_tokens).toBe(3)
})

it('tool calls are kept, so that what is said beside them is read as in any conversation: not as the answer', () => {
  const tool_calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }]
  const read = (calls: unknown) => {
    const reply = parseModelResponse({ choices: [{ message: { content: '<answer>5</answer>', tool_calls: calls } }] })
    if (!reply) throw new TypeError('it is a completion')
    return getFinalText([buildAssistantMessage(reply)])?.text
  }
  expect(read(tool_calls)).toBeUndefined()
  for (const none of [[], null, undefined, 'none']) expect(read(none)).toBe('<answer>5</answer>')
})

it('whatever is told wrongly beside a completion is left out, and the completion is not', () => {
  const asides = [
    { finish_reason: 3 },
    { finish_reason: 'x'.repeat(65) },
    { token_ids: 'abc' },
    { token_ids: [1, null] },
    { prompt_token_ids: {} },
    { logprobs: [-0.1] },
    { logprobs: { content: [{ token: 'y', logprob: null }] } },
  ]
  for (const aside of asides)
    expect([aside, parseModelResponse({ choices: [{ ...choices[0], ...aside }] })]).toEqual([
      aside,
      { content: 'yes', finish_reason: 'finish_reason' in aside ? null : 'stop' },
    ])
  expect(parseModelResponse({ choices, prompt_token_ids: [0.5] })).toEqual({ content: 'yes', finish_reason: 'stop' })
})

it('a failure that a provider reports with status 200 is found, with its message', () => {
  const say = (choice: object, rest: object = {}) => findProviderFailure({ choices: [choice], ...rest })
  const message = { content: 'text' }
  expect(say({ message, finish_reason: 'error', error: { message: 'overloaded' } })).toContain('overloaded')
  for (const reason of ['network_error', 'insufficient_system_resource', 'ABORT', { type: 'abort' }, 'cancelled'])
    expect(say({ message, finish_reason: reason })).toMatch(/^finish_reason /)
  expect(say({ message: { content: null }, finish_reason: 'stop' })).toContain('neither content nor usage')
  expect(say({ message: { content: [{ type: 'image_url' }] }, finish_reason: 'stop' })).toContain('image_url')
  const usage = { completion_tokens: 5 }
  for (const spoken of [
    say({ message, finish_reason: 'stop' }),
    say({ message, finish_reason: 'MAX_TOKENS' }),
    say({ message }),
    say({ message: { content: null }, finish_reason: 'stop' }, { usage }),
    say({ message: { content: null, tool_calls: [{}] }, finish_reason: 'tool_calls' }),
    say({ message: { content: null, refusal: 'no' }, finish_reason: 'content_filter' }),
    say({ message: { content: [{ type: 'output_text', text: 'x' }] } }),
  ])
    expect(spoken).toBeUndefined()
})
