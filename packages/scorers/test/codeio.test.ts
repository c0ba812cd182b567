import { describe, expect, it } from 'vitest'
import { PARTIAL_SCORERS } from '../src/native-scorers.ts'

function score(oracle: string, answer: string): number | undefined {
  return PARTIAL_SCORERS.codeio?.({ question: '', answer: oracle, metadata: {} })(answer)
}

const KEY = '{"names": ["Ada", "Bo"], "sum": 12.5}'
const writeGrid = (side: number, value: number) => JSON.stringify({ grid: Array(side).fill(Array(side).fill(value)) })

describe('an answer to codeio gets the score of the library', () => {
  it.each([
    ['the key', KEY, ` ${KEY}\n`, 1],
    ['the same value', KEY, '{"sum": 12.50, "names": ["Ada", "Bo"]}', 1],
    ['true for 1', '{"a": true}', '{"a": 1.0}', 1],
    ['NaN', '{"a": NaN}', '{"a": NaN}', 1],
    ['the key in a text', KEY, `Answer: ${KEY}`, 0.9024390243902439],
    ['another text', KEY, '{"names": ["Ada", "Bob"], "sum": 12.5}', 0.868421052631579],
    ['another number', KEY, '{"names": ["Ada", "Bo"], "sum": 12.25}', 0.9865735767991407],
    ['a text for a number', KEY, '{"names": ["Ada", "Bo"], "sum": "12,5"}', 0.8717948717948718],
    ['a text for digits', '{"a": "11", "b": "abcdefgh"}', '{"a": "x1", "b": "abcdefgh"}', 0.1071428571428572],
    ['digits with two points', '{"a": "1.2.3", "b": "abc"}', '{"a": "1.2.4", "b": "abc"}', 0.8076923076923077],
    ['a character of two units', '{"a": "😀x", "b": 1}', '{"a": "😀y", "b": 1}', 0.8333333333333334],
    ['a level that costs nothing', '[1, 2, 3, 4, 5]', '{"": [1, 2, 3, 4, 5]}', 1],
    ['a missing node', KEY, '{"names": ["Bo"], "sum": 12.5}', 0.01],
    ['an empty object', KEY, '{}', 0.01],
    ['two objects', KEY, KEY + KEY, 0.5],
    ['no JSON', KEY, '{"names": 1', 0],
    ['no object', KEY, '12.5', 0],
  ])('%s', (_, oracle, answer, expected) => {
    expect(score(oracle, answer)).toBe(expected)
  })
})

it.each([
  ['nested more deeply than Python reads', `{"a": ${'['.repeat(1000)}${']'.repeat(1000)}}`],
  ['with more digits than Python reads', `{"a": ${'9'.repeat(4301)}}`],
  ['with numbers of another script', '{"a": "٣"}'],
])('what is %s is left to the library', (_, answer) => {
  expect(score(KEY, answer)).toBeUndefined()
})

it('large trees are compared as long as that is quick', () => {
  expect(score(writeGrid(20, 1), writeGrid(20, 1).replace('1', '12'))).toBeGreaterThan(0.5)
  expect(score(writeGrid(60, 1), writeGrid(60, 2))).toBeUndefined()
  expect(score(KEY, `{"names": [${'1,'.repeat(30_000)}1]}`)).toBe(0.01)
})
