/** Corrections of tasks on plans, moves and grids: lost right ways, moves that are not legal, what has no answer. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PythonEngine } from '../../../src/engine/python-engine.ts'
import { Ladders } from '../../../src/features/tasks/ladders.ts'
import { type HardenedItem, makeHardenedItems } from '../../../src/grading/hardened-item.ts'
import { openEngine } from './engine.ts'

let engine: PythonEngine
beforeAll(async () => {
  engine = await openEngine()
})
afterAll(() => engine.close())

type Config = Record<string, unknown>

async function make(task: string, seed: number, config: Config): Promise<HardenedItem> {
  const canonical = await engine.canonicalizeConfig(task, config)
  const [item] = await makeHardenedItems(engine, task, canonical, [[seed, 0]])
  if (item === undefined) throw new Error('no item')
  return item
}

const firstRung = (task: string): Config => new Ladders().configAt(task, 0)
const EASY_CARS = { min_moves: 2, max_moves: 5 }
const TWO_DISKS = { min_disks: 2, max_disks: 2, min_pegs: 10, max_pegs: 10 }
const SMALL_GO = { min_board_size: 6, max_board_size: 7, max_stones: 7 }
const ONE_BOX = { min_row_num: 1, max_row_num: 1, min_column_num: 3, max_column_num: 3, colour_list: ['red'] }
const TWO_TURNS = { min_scramble_steps: 2, max_scramble_steps: 2 }
const ONE_TURN = { min_scramble_steps: 1, max_scramble_steps: 1 }
const ONE_ROUND = { min_num_rounds: 1, max_num_rounds: 1 }
const THREE_BY_THREE = { min_rows: 3, max_rows: 3, min_cols: 3, max_cols: 3 }

const DISK_1_AROUND = 'Move disk 1 from Peg 5 to Peg 3\nMove disk 1 from Peg 3 to Peg 1'
const DISK_2_OVER = 'Move disk 2 from Peg 5 to Peg 2\nMove disk 1 from Peg 1 to Peg 2'
const KNIGHTS_AROUND = '"w,A3,C2", "B,B3,D2", "w,C2,A3", "B,D2,B3"'
const KNIGHTS_OVER = '"w,A3,C2", "B,B3,D2", "w,C2,A1", "B,D2,B1", "w,A1,B3", "B,B1,A3"'
const HIDDEN_WAY = '"w,A2,C3","B,C1,B3","w,C3,A2","B,B3,D2","w,A2,C3","B,D2,B1","w,C3,A2","B,B1,C3","w,A2,C1","B,C3,A2"'
const BOX_FROM_RIGHT = '{"Agent[0.5, 2.5]": "move(box_red, square[0.5, 1.5])"}'
const BOX_BACK = '{"Agent[0.5, 1.5]": "move(box_red, square[0.5, 2.5])"}'
const BOX_TO_LEFT = '{"Agent[0.5, 1.5]": "move(box_red, square[0.5, 0.5])"}'
const BOX_DELIVERED = '{"Agent[0.5, 0.5]": "move(box_red, target_red)"}'

describe('right answers that the library does not pay in full', () => {
  const answers: [what: string, task: string, seed: number, config: Config, answer: string][] = [
    ['a long way', 'tower_of_hanoi', 1, TWO_DISKS, `${DISK_1_AROUND}\n${DISK_2_OVER}`],
    ['a long way', 'knight_swap', 4, firstRung('knight_swap'), `[${KNIGHTS_AROUND}, ${KNIGHTS_OVER}]`],
    ['a way that is called impossible', 'knight_swap', 72, firstRung('knight_swap'), `[${HIDDEN_WAY}]`],
    ['"No" in quotes', 'knight_swap', 1, firstRung('knight_swap'), '"No"'],
    ['another capture', 'tsumego', 6, SMALL_GO, 'B6'],
    ['a small capture', 'tsumego', 5, SMALL_GO, 'A2'],
    [
      'the fence of the example',
      'boxnet',
      7,
      ONE_BOX,
      `\`\`\`json\n[${BOX_FROM_RIGHT}, ${BOX_TO_LEFT}, ${BOX_DELIVERED}]\n\`\`\``,
    ],
    ['a layer by its number', 'rubiks_cube', 1, { cube_size: 4, ...TWO_TURNS }, "2Uw 1B'"],
    ['Peng before Chi', 'mahjong_puzzle', 16, ONE_ROUND, 'Peng'],
  ]
  it.each(answers)('%s (%s)', async (_, task, seed, config, answer) => {
    const item = await make(task, seed, config)
    expect([item.isAnswerable, ...(await item.score([answer]))], item.question).toEqual([true, 1])
    expect((await item.scoreUpstream([answer]))[0]).toBeLessThan(1)
  })
})

describe('wrong answers that the library pays in full', () => {
  const answers: [what: string, task: string, seed: number, config: Config, answer: string, right?: string][] = [
    ['a blocked car', 'rush_hour', 139, EASY_CARS, 'B+9 A+9', 'B+3 A+4'],
    ['small letters', 'rush_hour', 139, EASY_CARS, 'b-1 B+3 A+4', 'B+3, A+4'],
    ['no capture', 'tsumego', 6, SMALL_GO, 'E4', 'b6'],
    ['a step against a wall', 'sokoban', 4, firstRung('sokoban'), 'LURURUL', 'URURUL'],
    ['a letter that is no step', 'sokoban', 4, firstRung('sokoban'), 'URURULl', 'U R U R U L'],
    ['"No" where there is a way', 'knight_swap', 72, firstRung('knight_swap'), 'No'],
    ['half a move', 'jugs', 1, { difficulty: 3 }, '["fill B up", "pour B->A", "pour B->C", "fill B", "pour B->C"]'],
    ['an agent acts twice', 'boxnet', 7, ONE_BOX, twice(BOX_FROM_RIGHT)],
    ['a box goes back', 'boxnet', 7, ONE_BOX, `[${BOX_FROM_RIGHT}, ${BOX_BACK}, ${planFrom(BOX_FROM_RIGHT).slice(1)}`],
    ['two steps at once', 'boxnet', 7, ONE_BOX, planFrom(BOX_FROM_RIGHT).replace('}, {', ', ')],
    ['a turn that is passed over', 'rubiks_cube', 1, { cube_size: 3, ...ONE_TURN }, "B' 2R", "B'"],
    ['combined turns', 'rubiks_cube', 1, { cube_size: 3, ...ONE_TURN }, 'B3', 'B B B'],
    ['other numbers', 'puzzle24', 1, firstRung('puzzle24'), '4*6*1*1', '6*1*(1+3)'],
    ['an operator that is not allowed', 'puzzle24', 1, firstRung('puzzle24'), '6*(1+3)/1', '(3+1)*6*1'],
    ['Chi beside Peng', 'mahjong_puzzle', 16, ONE_ROUND, 'Chi', 'Peng'],
    ['a cell of minus one', 'kakurasu', 1, THREE_BY_THREE, '1 1 0\n0 0 1\n-1 0 0', '1 1 0\n0 0 1\n1 0 0'],
    ['a cell too many', 'kakurasu', 1, THREE_BY_THREE, '1 1 0 2\n0 0 1\n1 0 0', '110\n001\n100'],
  ]
  it.each(answers)('%s (%s)', async (_, task, seed, config, answer, right) => {
    const item = await make(task, seed, config)
    expect((await item.score([answer]))[0], item.question).toBeLessThan(1)
    if (right !== undefined) expect(await item.score([right])).toEqual([1])
    expect(await item.scoreUpstream([answer])).toEqual([1])
  })
})

it('pegs that a number hides and moves to where a disk is are none (tower_of_hanoi)', async () => {
  const item = await make('tower_of_hanoi', 1, TWO_DISKS)
  const stay = `${DISK_2_OVER}\nMove disk 1 from Peg 2 to Peg 2`
  const hidden = DISK_2_OVER.replace('Peg 2', 'Peg 1_0\nMove disk 2 from Peg 1 to Peg 2')
  const answers = [DISK_2_OVER, stay, hidden].map((way) => `${DISK_1_AROUND}\n${way}`)
  expect(await item.score(answers)).toEqual([1, 0, 0])
})

/** The box from the right to its target on the left. */
function planFrom(first: string): string {
  return `[${first}, ${BOX_TO_LEFT}, ${BOX_DELIVERED}]`
}

function twice(action: string): string {
  return planFrom(action.replace('}', `, ${action.slice(1)}`))
}

describe('items that are not handed out', () => {
  const struck: [why: string, task: string, seed: number, config: Config][] = [
    ['no move captures', 'tsumego', 10, SMALL_GO],
    ['a white group has no liberties', 'tsumego', 29, SMALL_GO],
    ['the boxes are on their goals', 'sokoban', 1, firstRung('sokoban')],
    ['the turns undo each other', 'rubiks_cube', 50, firstRung('rubiks_cube')],
  ]
  it.each(struck)('%s (%s)', async (_, task, seed, config) => {
    expect((await make(task, seed, config)).isAnswerable).toBe(false)
    expect((await make(task, 4, config)).isAnswerable).toBe(true)
  })
})

describe('notes', () => {
  const CAPTURE_NOTE = 'Note: any move that captures at least one white stone is right.'
  const TARGET_NOTE = 'Note: the target is one of the numbers too, and as such it must be in the expression.'
  const NUMBERS_NOTE = 'Note: every number must be used exactly once; only +, -, * are allowed.'
  const notes: [task: string, seed: number, config: Config, note: string | null][] = [
    ['tsumego', 5, SMALL_GO, CAPTURE_NOTE],
    ['tsumego', 6, SMALL_GO, null],
    ['tsumego', 11, SMALL_GO, null],
    ['countdown', 3, new Ladders().configAt('countdown', 3 / 17), TARGET_NOTE],
    ['countdown', 1, {}, null],
    ['puzzle24', 1, firstRung('puzzle24'), NUMBERS_NOTE],
    ['puzzle24', 11, {}, null],
  ]
  it.each(notes)('%s, seed %i', async (task, seed, config, note) => {
    expect((await make(task, seed, config)).clarification).toBe(note)
  })
})
