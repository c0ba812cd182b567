/** Corrections of grids, boards and pictures: what is paid now and was not, the reverse, notes, and items passed over. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PythonEngine } from '../../../src/engine/python-engine.ts'
import { type HardenedItem, makeHardenedItems } from '../../../src/grading/hardened-item.ts'
import { openEngine } from './engine.ts'

let engine: PythonEngine
beforeAll(async () => {
  engine = await openEngine()
})
afterAll(() => engine.close())

type Config = Record<string, unknown>

async function make(task: string, config: Config, seed: number, index = 0): Promise<HardenedItem> {
  const canonical = await engine.canonicalizeConfig(task, config)
  const [item] = await makeHardenedItems(engine, task, canonical, [[seed, index]])
  if (item === undefined) throw new Error(`no item of ${task} with seed ${seed}`)
  return item
}

/** Of the vertices, 1 and 2 are joined. */
const THREE_VERTICES = { min_num_vertices: 3, max_num_vertices: 3, edge_probability: 0.5 }
const LARGE_SURVO = { min_board_size: 8, max_board_size: 8, min_empty: 8, max_empty: 8, max_num: 30 }
const OTHER_SURVO = [
  '28 3 18 29 6 26 13 123',
  '14 24 12 19 21 25 13 128',
  '25 19 7 20 29 2 1 103',
  '24 23 24 30 23 23 16 163',
  '21 20 24 30 7 30 17 149',
  '24 29 20 30 5 1 19 128',
  '29 4 21 29 14 22 5 124',
  '165 122 126 187 105 129 84 918',
]

it.each<[what: string, task: string, config: Config, seed: number, answer: string, upstream: number, hardened: number]>(
  [
    ['another filling', 'survo', LARGE_SURVO, 1001, OTHER_SURVO.join('\n'), 0, 1],
    ['a filling whose sums are wrong', 'survo', LARGE_SURVO, 1001, OTHER_SURVO.toReversed().join('\n'), 0, 0],
    ['another solution', 'cryptarithm', {}, 1, 'C=3, E=0, T=6, U=4, W=2, Y=5', 1, 1],
    ['a letter with two digits', 'cryptarithm', {}, 1, 'C=4,C=3,E=0,T=6,U=4,W=2,Y=5', 1, 0],
    ['a coloring', 'graph_color', THREE_VERTICES, 1, '{"2": 1, "1": 3, "0": 1}', 1, 1],
    ['a color that is no number', 'graph_color', THREE_VERTICES, 1, '{"0": true, "1": 2, "2": 3}', 1, 0],
    ['a vertex too many', 'graph_color', THREE_VERTICES, 1, '{"0": 1, "1": 2, "2": 3, "3": 1}', 1, 0],
    ['a vertex with two colors', 'graph_color', THREE_VERTICES, 1, '{"0": 2, "0": 1, "1": 2, "2": 3}', 1, 0],
    ['a board that lives on for a step', 'game_of_life_halting', { max_simulation_steps: 1 }, 0, 'False', 1, 1],
    ['the key of such a board', 'game_of_life_halting', { max_simulation_steps: 1 }, 0, 'True', 1, 0],
    ['an empty board', 'game_of_life_halting', { num_oscillators: 0 }, 1, 'True', 1, 1],
  ],
)('%s (%s)', async (_, task, config, seed, answer, upstream, hardened) => {
  const item = await make(task, config, seed)
  const scores = [await item.scoreUpstream([answer]), await item.score([answer])].flat()
  expect(scores, item.question).toEqual([upstream, hardened])
})

const HALF_TURN =
  'Note: when the bottom side is brought to the top, the front and back sides change places, ' +
  'and the left and right sides stay.'
const CROSSING = 'Note: count the fewest rectangles of which this drawing can be made.'

it.each<[what: string, task: string, config: Config, seed: number, note: string | null]>([
  ['a half turn that decides', 'color_cube_rotation', {}, 1004, HALF_TURN],
  ['quarter turns', 'color_cube_rotation', {}, 1000, null],
  ['outlines that cross', 'rectangle_count', { max_rectangles: 6, width: 38, height: 38 }, 1000, CROSSING],
  ['outlines apart', 'rectangle_count', { max_rectangles: 3, width: 20, height: 20 }, 0, null],
])('the note on %s (%s)', async (_, task, config, seed, note) => {
  expect((await make(task, config, seed)).clarification).toBe(note)
})

const SMALL_GRID = { size_x: 8, size_y: 8, max_divisor: 5, max_target: 4 }

it.each<[what: string, task: string, config: Config, seed: number, index: number, isAnswerable: boolean]>([
  ['a font without letters', 'figlet_font', { static_font: 'home_pak' }, 0, 0, false],
  ['letters that look the same', 'figlet_font', { static_font: 'test1', static_word: 'CAB' }, 0, 0, false],
  ['other letters of that font', 'figlet_font', { static_font: 'test1', static_word: 'DAB' }, 0, 0, true],
  ['a board that is cut', 'game_of_life_halting', { grid_size_x: 33, grid_size_y: 33 }, 0, 0, false],
  ['a pattern with few cells', 'modulo_grid', SMALL_GRID, 5227, 0, false],
  ['a pattern with many', 'modulo_grid', SMALL_GRID, 1000, 0, true],
  ['sums below some limit', 'list_functions', {}, 1000, 39, false],
  ['one function', 'list_functions', {}, 1000, 0, true],
  ['rules that agree on the examples', 'arc_1d', {}, 16, 0, false],
  ['a row that stays', 'arc_1d', {}, 78, 0, false],
  ['one rule', 'arc_1d', {}, 0, 0, true],
  ['a board that stays', 'rearc', {}, 1, 0, false],
  ['a generator that contradicts its verifier', 'rearc', {}, 19, 0, false],
  ['examples that stay', 'rearc', {}, 30, 0, false],
  ['a color that was not shown', 'rearc', {}, 80, 0, false],
  ['another board', 'rearc', {}, 2, 0, true],
  ['another board in brackets', 'rearc', { board_format_opts: { array_brackets: true } }, 2, 0, true],
])('%s (%s)', async (_, task, config, seed, index, isAnswerable) => {
  const item = await make(task, config, seed, index)
  expect(item.isAnswerable, item.question).toBe(isAnswerable)
})
