import { expect, it } from 'vitest'
import { readReply } from '../../src/models/reply.ts'

const choices = [{ message: { content: 'yes' }, finish_reason: 'stop' }]

it('a usage that is no count of tokens is ignored, and the completion is not', () => {
  for (const usage of [{ completion_tokens: -1 }, { completion_tokens: 5.5 }, { completion_tokens: '7' }, {}, null, 7])
    expect([usage, readReply({ choices, usage })]).toEqual([usage, { content: 'yes', finish_reason: 'stop' }])
  expect(readReply({ choices, usage: { completion_tokens: 7 } })?.length_tokens).toBe(7)
  const counted = [{ ...choices[0], token_ids: [1, 2, 3] }]
  expect(readReply({ choices: counted, usage: { completion_tokens: -1 } })?.length_tokens).toBe(3)
})
