/** Corrections of tasks on words, letters and strings: what the library pays wrongly, what it leaves open, and what has no answer. */
import { getClarification } from '@reasoning-gym-server/scorers/corrections/corrections'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PythonEngine } from '../../../src/engine/python-engine.ts'
import { type HardenedItem, makeHardenedItems } from '../../../src/grading/hardened-item.ts'
import { openEngine } from './engine.ts'

let engine: PythonEngine
beforeAll(async () => {
  engine = await openEngine()
})
afterAll(() => engine.close())

type Config = Record<string, number>

async function make(task: string, seed: number, config: Config = {}): Promise<HardenedItem> {
  const [item] = await makeHardenedItems(engine, task, config, [[seed, 0]])
  if (item === undefined) throw new Error('no item')
  return item
}

const ONE_WORD = { min_words: 1, max_words: 1 }
const THREE_WORDS = { min_words: 3, max_words: 3 }
const SHORT_WORDS = { min_words: 1, max_words: 2, min_word_len: 3, max_word_len: 5 }
const SHORT_STRING = { min_string_length: 5, max_string_length: 6 }
const SHORT_PALINDROME = { min_string_len: 5, max_string_len: 5 }

describe('items that are not handed out', () => {
  const struck: [why: string, task: string, seed: number, config: Config][] = [
    ['a repeated word', 'sentence_reordering', 11, {}],
    ['a sentence in its order', 'sentence_reordering', 81, {}],
    ['no letter out of place', 'letter_jumble', 67, { ...SHORT_WORDS, max_corruption_level: 0.1 }],
    ['"from" and "form"', 'letter_jumble', 32, ONE_WORD],
    ['a sorted list', 'word_sorting', 126, {}],
    ['a list that is its reversal', 'word_sequence_reversal', 128, THREE_WORDS],
    ['a word that is a palindrome', 'spell_backward', 93, { min_word_len: 3, max_word_len: 4 }],
    ['letters that are a palindrome', 'palindrome_generation', 2, {}],
    ['an emoji that is decoded', 'emoji_mystery', 170, {}],
    ['a string of which nothing is left', 'string_manipulation', 409, SHORT_STRING],
  ]
  it.each(struck)('%s (%s)', async (_, task, seed, config) => {
    expect((await make(task, seed, config)).isAnswerable).toBe(false)
    expect((await make(task, 1)).isAnswerable).toBe(true)
  })
})

describe('notes', () => {
  const notes: [task: string, note: string, config: Config][] = [
    ['letter_counting', 'Note: capital and small letters count alike.', {}],
    [
      'string_insertion',
      'Note: search the string once, from left to right, for all five substrings at each place.',
      { min_string_length: 100, max_string_length: 300 },
    ],
    [
      'string_manipulation',
      'Note: in a string of even length, the middle character is the first one of the second half.',
      {},
    ],
    ['string_synthesis', 'Note: after each use of a rule, start again from rule 1.', {}],
    [
      'palindrome_partitioning',
      'Note: list all possible partitions.',
      { min_string_len: 3, max_string_len: 4, max_substring_palindrome_len: 1 },
    ],
  ]
  it.each(notes)('%s: %s', async (task, note, config) => {
    const places = Array.from({ length: 60 }, (_, k): [number, number] => [k, 0])
    const given = (await makeHardenedItems(engine, task, config, places)).map(({ clarification }) => clarification)
    expect(new Set(given)).toEqual(new Set([null, note]))
  })

  it('an accented letter is another one (letter_counting)', () => {
    const entry = { question: '', answer: '1', metadata: { span: ['Each', 'aërial'], target_letter: 'e' } }
    const note = 'Note: capital and small letters count alike, and letters with accents are other letters.'
    expect(getClarification('letter_counting', entry)).toBe(note)
  })
})

describe('scores', () => {
  type Scored = [
    item: [task: string, seed: number, config?: Config],
    answer: string,
    upstream: number,
    hardened: number,
  ]
  const scored: Scored[] = [
    // "AËRIAL" was ciphered into a text that says "AIRIAL".
    [
      ['caesar_cipher', 1113],
      'BY SUPPLYING MOTIVE POWER FOR AIRIAL THEY HAVE GIVEN TO COMMERCE A MIGHTY IMPETUS',
      0,
      1,
    ],
    [
      ['caesar_cipher', 1113],
      'BY SUPPLYING MOTIVE POWER FOR AËRIAL THEY HAVE GIVEN TO COMMERCE A MIGHTY IMPETUS',
      1,
      0,
    ],
    [['letter_jumble', 1], 'Fritz Napoleon Smith s system a system', 1, 1],
    [['letter_jumble', 1], 'fritz napoleon smith s system a system', 1, 0.9],
    [['emoji_mystery', 4], '" Then, the two men bowing to him, Mr.', 0.01, 1],
    // "cb" becomes "aa" without its last character.
    [['string_manipulation', 1145, SHORT_STRING], 'a', 0, 1],
    [['string_manipulation', 1145, SHORT_STRING], 'aa', 1, 0],
  ]
  it.each(scored)('%j: %s scores %d, hardened %d', async ([task, seed, config], answer, upstream, hardened) => {
    const item = await make(task, seed, config)
    expect(await item.scoreUpstream([answer])).toEqual([upstream])
    expect(await item.score([answer])).toEqual([hardened])
  })

  it('two words that differ in case only are not in the place of each other (sentence_reordering)', async () => {
    const item = await make('sentence_reordering', 28)
    const swapped = 'keep on, my dear Archibald, Keep on!'
    expect(await item.scoreUpstream([swapped])).toEqual([1])
    expect(await item.score([swapped, 'keep on, my dear Archibald, keep on!'])).toEqual([0, 1])
  })

  it('a partition is listed once, as a list (palindrome_partitioning)', async () => {
    const item = await make('palindrome_partitioning', 1, SHORT_PALINDROME)
    const all = JSON.parse(item.entry.answer ?? '') as string[][]
    const twice = JSON.stringify([...all, all[0]])
    const asText = JSON.stringify(
      all.map((parts) => (parts.every((part) => part.length === 1) ? parts.join('') : parts)),
    )
    expect(await item.scoreUpstream([twice, asText])).toEqual([1, 1])
    expect(await item.score([twice, asText, JSON.stringify(all.toReversed())])).toEqual([0, 0, 1])
  })

  it('a group is a list (group_anagrams)', async () => {
    const item = await make('group_anagrams', 1)
    const groups = JSON.parse(item.entry.answer ?? '') as string[][]
    const objects = JSON.stringify(groups.map((words) => Object.fromEntries(words.map((word) => [word, 1]))))
    expect(await item.scoreUpstream([objects])).toEqual([1])
    expect(await item.score([objects, JSON.stringify(groups.toReversed())])).toEqual([0, 1])
  })
})
