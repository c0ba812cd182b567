import type { Extraction } from '@reasoning-gym-server/contract/verdict'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractAnswer } from '../../src/grading/answer-extraction.ts'
import { startCpuClock } from '../cpu-clock.ts'

const read = (completion: string, extraction: Extraction = 'strict') => {
  const reading = extractAnswer(completion, { extraction })
  return reading.kind === 'answer' ? reading.answer : { fault: reading.fault }
}

describe('a completion read strictly', () => {
  it.each([
    ['<answer>5</answer>', '5'],
    ['<think>2+3</think>\n<answer> 5\n</answer> done', '5'],
    ['<ANSWER>5</Answer>', '5'],
    ['<answer></answer>', ''],
    ['draft <answer>4</answer></think><answer>5</answer>', '5'],
    ['<think><answer>4</answer></think><answer>5</answer>', '5'],
    ['<think>a<think>b</think><answer>5</answer>', '5'],
    ['<think>a</think><answer>5</answer><think>open', '5'],
    ['<answer>\u001c5\u0085</answer>', '5'],
    ['<answer>\ufeff5</answer>', '\ufeff5'],
    ['a</think>b</think><answer>5</answer>', '5'],
  ])('%j gives %j', (completion, answer) => expect(read(completion)).toBe(answer))

  it.each([
    ['5', 'no_answer'],
    ['', 'no_answer'],
    ['5</answer>', 'no_answer'],
    ['<answer >5</answer>', 'no_answer'],
    ['<think>5', 'unclosed_think'],
    ['<think><answer>5</answer>', 'unclosed_think'],
    ['<answer>5', 'unclosed_answer'],
    ['<answer>4<answer>5</answer>', 'unclosed_answer'],
    ['<answer>4</answer><answer>5</answer>', 'many_answers'],
    ['</answer><answer>5', 'many_answers'],
    ['<answer>5</answer></answer>', 'many_answers'],
  ])('%j is at fault: %s', (completion, fault) => expect(read(completion)).toEqual({ fault }))
})

describe('other ways to read', () => {
  it('last_tag takes the last closing tag with the nearest opening one before it', () => {
    expect(read('<answer>4</answer><answer>5</answer>', 'last_tag')).toBe('5')
    expect(read('<answer>4<answer>5</answer>', 'last_tag')).toBe('5')
    expect(read('<answer>4</answer> <answer>5', 'last_tag')).toBe('4')
    expect(read('<answer>4', 'last_tag')).toEqual({ fault: 'unclosed_answer' })
    expect(read('none', 'last_tag')).toEqual({ fault: 'no_answer' })
  })

  it('tag_or_boxed falls back on the last balanced box', () => {
    expect(read('\\boxed{4} so \\boxed{\\frac{1}{2}}', 'tag_or_boxed')).toBe('\\frac{1}{2}')
    expect(read('\\boxed{4} and \\boxed{5', 'tag_or_boxed')).toBe('4')
    expect(read('\\boxed{4} <answer>5</answer>', 'tag_or_boxed')).toBe('5')
    expect(read('boxed{4}', 'tag_or_boxed')).toEqual({ fault: 'no_answer' })
  })

  it('bare takes the text as it stands', () => {
    expect(read(' <think>4</think> ', 'bare')).toBe(' <think>4</think> ')
  })
})

it('a tagged answer is found whatever the thinking before it', () => {
  const plain = fc.string().filter((text) => !/<\/?(think|answer)>/i.test(text))
  const thinking = fc.string().filter((text) => !/<\/?think>/i.test(text))
  fc.assert(
    fc.property(thinking, plain, (thought, answer) => {
      expect(read(`<think>${thought}</think><answer>x${answer}x</answer>`)).toBe(`x${answer}x`)
    }),
  )
})

it.each([
  '<answer>',
  '</answer>',
  '<think>',
  '</think>',
  '<answer></answer>',
  '<think></think>',
  '\\boxed{',
  '\\boxed{}',
  '<',
])('a megabyte of %s is read in one pass', (tag) => {
  const completion = tag.repeat(Math.ceil(1e6 / tag.length))
  for (const extraction of ['strict', 'last_tag', 'tag_or_boxed'] as const) {
    const cpuMs = startCpuClock()
    extractAnswer(completion, { extraction })
    expect(cpuMs()).toBeLessThan(1000) // one pass takes 20 ms; a quadratic one minutes
  }
})

it('a second closing tag closes nothing', () => {
  for (const rest of ['</answer>', '\nDone. </answer>', '</answer></answer>'])
    expect(read(`<answer>5</answer>${rest}`, 'last_tag')).toBe('5')
  expect(read('<answer>4</answer> or <answer>5</answer></answer>', 'last_tag')).toBe('5')
  expect(read('5</answer>', 'last_tag')).toEqual({ fault: 'no_answer' })
})

it('with a stop string, an answer that is open at the end is closed', () => {
  const stop = '</answer>'
  for (const extraction of ['strict', 'last_tag', 'tag_or_boxed'] as const) {
    expect(extractAnswer('So <answer>5', { extraction, stop })).toEqual({ kind: 'answer', answer: '5' })
    expect(extractAnswer('So <answer>5</answer>', { extraction, stop })).toEqual({ kind: 'answer', answer: '5' })
    expect(extractAnswer('So <answer>5', { extraction })).toEqual({ kind: 'fault', fault: 'unclosed_answer' })
    expect(extractAnswer('<think><answer>5', { extraction, stop })).toEqual({ kind: 'fault', fault: 'unclosed_think' })
  }
})

it('where the prompt opens the thinking, a draft that was cut off is no answer', () => {
  const rules = { extraction: 'last_tag', opens_thinking: true } as const
  expect(extractAnswer('Maybe <answer>4</answer>? Let me check', rules)).toEqual({
    kind: 'fault',
    fault: 'unclosed_think',
  })
  expect(extractAnswer('Maybe <answer>4</answer></think><answer>5</answer>', rules)).toEqual({
    kind: 'answer',
    answer: '5',
  })
  expect(extractAnswer('<think>4</think><answer>5</answer>', rules)).toEqual({ kind: 'answer', answer: '5' })
})
