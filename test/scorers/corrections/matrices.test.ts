/** Corrections of the matrix tasks and of codeio: right answers paid, wrong ones not, notes, items passed over. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PythonEngine } from '../../../src/engine/python-engine.ts'
import { type HardenedItem, makeHardenedItems } from '../../../src/grading/hardened-item.ts'
import { openEngine } from './engine.ts'

let engine: PythonEngine
beforeAll(async () => {
  engine = await openEngine()
})
afterAll(() => engine.close())

async function makeItem(task: string, config: Record<string, number>, seed: number): Promise<HardenedItem> {
  const [item] = await makeHardenedItems(engine, task, await engine.canonicalizeConfig(task, config), [[seed, 0]])
  if (item === undefined) throw new Error(`no item of ${task} with seed ${seed}`)
  return item
}

const FEW_OPERATIONS = { max_rows: 3, max_cols: 3, max_transforms: 2 }
const SMALL = { max_rows: 5, max_cols: 5 }
const WHOLE = { min_rows: 4, max_rows: 4, min_cols: 4, max_cols: 4, min_pool_size: 2, max_pool_size: 2 }
const MIRRORS = 'to mirror horizontally turns the matrix upside down, and to mirror vertically swaps left and right'
const EDGES = 'Note: a region at the edge that is smaller than the kernel is pooled over the elements that it has.'

it.each<[why: string, task: string, config: Record<string, number>, seed: number, note: string | null]>([
  ['a quarter turn', 'manipulate_matrix', FEW_OPERATIONS, 1, 'Note: rotations are clockwise.'],
  ['a mirror', 'manipulate_matrix', FEW_OPERATIONS, 36, `Note: ${MIRRORS}.`],
  ['both', 'manipulate_matrix', {}, 1000, `Note: rotations are clockwise; ${MIRRORS}.`],
  ['half a turn', 'manipulate_matrix', FEW_OPERATIONS, 15, null],
  ['a full turn', 'manipulate_matrix', FEW_OPERATIONS, 6, null],
  ['a mirror and back', 'manipulate_matrix', FEW_OPERATIONS, 23, null],
  ['regions at the edge', 'pool_matrix', SMALL, 5, EDGES],
  ['whole regions', 'pool_matrix', WHOLE, 0, null],
  ['regions of one element', 'pool_matrix', SMALL, 0, null],
])('%s (%s)', async (_, task, config, seed, note) => {
  expect((await makeItem(task, config, seed)).clarification).toBe(note)
})

it.each<[why: string, task: string, seed: number, answer: string, upstream: number, hardened: number]>([
  ['another notation', 'pool_matrix', 5, '4.78 2.67\n4.00 1', 1, 1],
  ['more decimals', 'pool_matrix', 5, '4.7778 2.666667\n4 1', 1, 1],
  ['two decimals, the last wrong', 'pool_matrix', 5, '4.78 2.68\n4.0 1.0', 1, 0],
  ['more decimals, of which one is wrong', 'pool_matrix', 5, '4.774 2.67\n4.0 1.0', 1, 0],
  ['a column for a row', 'pool_matrix', 14, '9\n7', 1, 0],
  ['a row', 'pool_matrix', 14, '9 7', 1, 1],
  ['the key', 'codeio', 4, '[[2, 3, 1], [3, 1, 2]]', 1, 1],
  ['a list without spaces', 'codeio', 4, '[[2,3,1],[3,1,2.0]]', 0, 1],
  ['a text for a number', 'codeio', 69, '{"gcd": "1"}', 1, 0],
  ['true for a number', 'codeio', 69, '{"gcd": true}', 1, 0],
  ['another input', 'codeio', 5, '{"s": "("}', 0, 1],
  ['an input with another output', 'codeio', 5, '{"s": "()"}', 0, 0],
  ['an input on which the program raises', 'codeio', 5, '{"s": null}', 0, 0],
  ['an input of another name', 'codeio', 5, '{"text": "("}', 0, 0],
  ['what is no JSON', 'codeio', 5, "{'s': '('}", 0, 0],
])('%s (%s)', async (_, task, seed, answer, upstream, hardened) => {
  const item = await makeItem(task, task === 'codeio' ? {} : SMALL, seed)
  const [paid = 0] = await item.scoreUpstream([answer])
  expect(Math.floor(paid)).toBe(upstream)
  expect(await item.score([answer])).toEqual([hardened])
})

it.each<[why: string, task: string, config: Record<string, number>, seed: number, isAnswerable: boolean]>([
  ['all tokens vanish', 'ab', { length: 6 }, 19, false],
  ['some tokens remain', 'ab', { length: 6 }, 20, true],
  ['random numbers', 'codeio', {}, 50, false],
  ['a program that fails', 'codeio', {}, 5040, false],
  ['a program that changes its input', 'codeio', {}, 5002, false],
  ['random numbers that change nothing', 'codeio', {}, 268, true],
])('%s (%s)', async (_, task, config, seed, isAnswerable) => {
  expect((await makeItem(task, config, seed)).isAnswerable).toBe(isAnswerable)
})
