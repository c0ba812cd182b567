/** Corrections of tasks on logic, families and graphs: right answers that the library does not pay, wrong ones that it does, and notes. */
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

const NINE_RELATIVES = { min_family_size: 9, max_family_size: 9 }
const MANY_STATEMENTS = { min_num_statements: 250, max_num_statements: 275 }
const WIRES = { min_terms: 1, max_terms: 2, min_inputs: 1, max_inputs: 1 }

/** Of each item an answer, the library's score and the hardened one. */
const scored: [
  what: string,
  task: string,
  seed: number,
  config: Config,
  answer: string,
  upstream: number,
  ours: number,
][] = [
  ["a son's wife", 'family_relationships', 5015, {}, 'daughter-in-law', 0, 1],
  ["a son's wife", 'family_relationships', 5015, {}, 'mother-in-law', 1, 0],
  ["a brother's daughter", 'family_relationships', 5003, NINE_RELATIVES, 'niece', 0, 1],
  ["a brother's daughter", 'family_relationships', 5003, NINE_RELATIVES, 'nephew', 1, 0],
  ['Rain, a son or a daughter', 'family_relationships', 5202, NINE_RELATIVES, 'niece', 0, 1],
  ['Rain, a son or a daughter', 'family_relationships', 5202, NINE_RELATIVES, 'nephew', 1, 1],
  ['Rain, a wife', 'family_relationships', 5080, {}, 'daughter-in-law', 0, 1],
  ['Rain, a wife', 'family_relationships', 5080, {}, 'son-in-law', 0, 0],
  ['River, of a couple that may be either', 'family_relationships', 5271, {}, 'son-in-law', 0, 1],
  ['an undistributed middle', 'syllogism', 5000, {}, 'No', 0, 1],
  ['an undistributed middle', 'syllogism', 5000, {}, 'Yes', 1, 0],
  ['both circles', 'aiw', 5009, {}, '7', 0, 1],
  ['herself among her colleagues', 'aiw', 5009, {}, '6', 1, 0],
  ['a NAND of one input, drawn as a wire', 'circuit_logic', 1, WIRES, '1', 0, 1],
  ['a NAND of one input, drawn as a wire', 'circuit_logic', 1, WIRES, '0', 1, 0],
  ['each his role', 'knights_knaves', 5000, {}, 'Matthew is a sinner, and Evelyn is a sinner', 1, 1],
  ['both roles', 'knights_knaves', 5000, {}, 'Matthew is a sinner and a saint, Evelyn is a sinner saint', 1, 0],
  ['a denial', 'knights_knaves', 5000, {}, 'It is false: Matthew is a sinner, and Evelyn is a sinner', 1, 0],
  ['one who fits', 'needle_haystack', 5006, MANY_STATEMENTS, 'Fawaz', 1, 1],
  ['another who fits', 'needle_haystack', 5006, MANY_STATEMENTS, 'Gideon', 0, 1],
  ['one who does not fit', 'needle_haystack', 5006, MANY_STATEMENTS, 'Landon', 0, 0],
  ['presses', 'quantum_lock', 5003, {}, 'C → B → B', 1, 1],
  ['presses in digits', 'quantum_lock', 5003, {}, 'C → B → B3', 1, 0],
]

describe('scores', () => {
  it.each(scored)('%s (%s)', async (_, task, seed, config, answer, upstream, ours) => {
    const item = await make(task, seed, config)
    expect([await item.scoreUpstream([answer]), await item.score([answer])]).toEqual([[upstream], [ours]])
  })
})

const BUTTONS = 'Note: a button marked with a color can only be pressed while the light has that color.'
const CIRCLES = "Note: Matilda is one of Barbara's 5 female colleagues and one of Michael's 3 female colleagues."

const notes: [why: string, task: string, seed: number, note: string | null][] = [
  ['a group may be empty', 'syllogism', 5009, 'Note: each of these groups has at least one member.'],
  ['an empty group is no matter', 'syllogism', 5000, null],
  ['nobody said who he is', 'aiw', 5003, "Note: William is one of Susan's brothers."],
  ['her own brother', 'aiw', 5004, null],
  ['she is in two circles', 'aiw', 5009, CIRCLES],
  ['she is the only woman of one', 'aiw', 5011, null],
  ['an idle press is a shorter way', 'quantum_lock', 5005, BUTTONS],
  ['an idle press is another way', 'quantum_lock', 5014, BUTTONS],
  ['any color', 'quantum_lock', 5003, null],
  ['River may be a sister or a brother', 'family_relationships', 50322, 'Note: River is a woman.'],
  ['Mary is a sister', 'family_relationships', 50000, null],
]

describe('notes', () => {
  it.each(notes)('%s (%s)', async (_, task, seed, note) => {
    expect((await make(task, seed)).clarification).toBe(note)
  })
})

it('the brother of an only brother is not asked for (aiw)', async () => {
  expect((await make('aiw', 5000)).isAnswerable).toBe(false)
  expect((await make('aiw', 5003)).isAnswerable).toBe(true)
})
