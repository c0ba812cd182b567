import { expect, it } from 'vitest'
import { getFinalText } from '../../src/grading/answer-extraction.ts'

const read = (content: ({ type: string } & Record<string, unknown>)[]) => getFinalText([{ role: 'assistant', content }])

it.each(['text', 'output_text', 'input_text'])('parts of type %s are joined', (type) => {
  expect(
    read([
      { type, text: '<answer>10' },
      { type, text: '0</answer>' },
    ]),
  ).toEqual({ text: '<answer>100</answer>', hasSeparateReasoning: false })
})

it.each(['reasoning', 'reasoning_text', 'thinking'])('a part of type %s is thinking that came apart', (type) => {
  const thinking = { type, text: '<answer>7</answer>', thinking: '<answer>7</answer>' }
  expect(read([thinking, { type: 'text', text: '<answer>100</answer>' }])).toEqual({
    text: '<answer>100</answer>',
    hasSeparateReasoning: true,
  })
})

it('parts of any other type are no text', () => {
  const parts = [
    { type: 'refusal', text: 'no' },
    { type: 'text', text: 5 },
    { type: 'image_url', image_url: {} },
  ]
  expect(read(parts)).toEqual({ text: '', hasSeparateReasoning: false })
})
