import { describe, expect, it } from 'vitest'
import { readResponse } from '../../../../src/features/adapters/reward-wires/openrlhf-response.ts'

const PROMPT = '<|im_start|>user\nHow many? Answer like <answer>100</answer>.<|im_end|>\n<|im_start|>assistant\n'

describe('the response in the query of OpenRLHF', () => {
  it.each([
    ['the prompt, and the response with its end token', `${PROMPT}4<|im_end|>`, PROMPT, '4'],
    ['padding', 'Q: 4</s></s><pad>\n<pad>', 'Q: ', '4'],
    ['much padding', `Q: 4${'<|endoftext|>'.repeat(500)}`, 'Q: ', '4'],
    ['a token before the prompt', '<|begin_of_text|>Q: 4<|eot_id|>', 'Q: ', '4'],
    ['spaces that the tokenizer adds around tokens', '<s> [INST] Q [/INST] 4 </s>', '[INST] Q[/INST]', ' 4 '],
    ['a prompt whose start was cut off', `${PROMPT.slice(25)}4<|im_end|>`, PROMPT, '4'],
    ['the prompt repeated by the model', `${PROMPT}${PROMPT}4`, PROMPT, `${PROMPT}4`],
    ['text that is no token at the end', 'Q: a <b> c</d>', 'Q: ', 'a <b> c</d>'],
    ['an empty response', PROMPT, PROMPT, ''],
    ['another prompt', `Q: <answer>1</answer>${PROMPT}4`, PROMPT, undefined],
    ['a query shorter than the prompt', PROMPT.slice(0, 40), PROMPT, undefined],
  ])('%s', (_kind, query, prompt, response) => {
    expect(readResponse(query, prompt)).toBe(response)
  })
})
