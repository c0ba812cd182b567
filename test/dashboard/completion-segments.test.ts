import { describe, expect, it } from 'vitest'
import { segments } from '../../packages/dashboard/test/pure.ts'
import { stripThinking } from '../../src/grading/answer-extraction.ts'

const { parseSegments, parseTruncatedSegments, splitAnswers, splitMatches } = segments
const visibleOf = (text: string) =>
  parseSegments(text)
    .filter(({ kind }) => kind === 'text')
    .map((piece) => piece.text.trim())
    .join('')

describe('a completion in segments', () => {
  it.each([
    '<THINK>loud</THINK> <answer>5</answer>',
    '<Think>a<think>b</THINK>c</think>d',
    'before</Think>after <think>never closed',
    'none at all',
    'a<think>b</think>c<THINK>d</THINK>e</think>f',
    '</think></think>x',
  ])('shows as text what the server reads: %s', (text) => {
    expect(visibleOf(text).replaceAll(/\s/g, '')).toBe(stripThinking(text).text.replaceAll(/\s/g, ''))
  })

  it('tells what nothing closes', () => {
    expect(parseSegments('<THINK>so')).toEqual([{ kind: 'thinking', text: 'so', open: true }])
  })
})

describe('the beginning and the end of a long one', () => {
  const ends = (head: string, tail: string) =>
    parseTruncatedSegments(`${head.padEnd(40, '-')} … ${tail.padStart(40, '-')}`)
  const cut = (tag: string) => parseTruncatedSegments(`<think>${'a'.repeat(33)} … ${tag}${'b'.repeat(40 - tag.length)}`)

  it('have one thinking between them', () => {
    const [thinking, text, ...more] = ends('<think>first', 'last</think>5')
    expect(thinking?.kind).toBe('thinking')
    expect(thinking?.text).toMatch(/^first-+ …\n… -+last$/)
    expect([text, more]).toEqual([{ kind: 'text', text: '5' }, []])
  })

  it.each(['/think>', 'think>', 'HINK>', 'k>'])('are told apart where the cut went through a tag: %s', (tag) => {
    expect(cut(tag).map(({ kind }) => kind)).toEqual(['thinking', 'text'])
    expect(cut(tag)[1]?.text).toMatch(/^b+$/)
  })

  it('are text where none of them thinks', () => {
    expect(ends('first', 'last').map(({ kind }) => kind)).toEqual(['text', 'text'])
  })
})

describe('what is marked in a text', () => {
  it('is each answer with its tags', () => {
    expect(splitAnswers('so <answer>5</answer>, no <ANSWER>6</ANSWER>')).toEqual([
      'so ',
      '<answer>5</answer>',
      ', no ',
      '<ANSWER>6</ANSWER>',
      '',
    ])
  })

  it('is the rest of an answer whose beginning was cut off', () => {
    expect(splitAnswers('Move … eg 3 to Peg 2</answer> done', true)).toEqual([
      'Move ',
      '… eg 3 to Peg 2</answer>',
      ' done',
    ])
    expect(splitAnswers('no tags', true)).toEqual(['no tags'])
  })

  it('is each occurrence of a search, in any case and whatever its signs', () => {
    expect(splitMatches('A (b) a (B)', '(b)')).toEqual(['A ', '(b)', ' a ', '(B)', ''])
    expect(splitMatches('text')).toEqual(['text'])
  })
})
