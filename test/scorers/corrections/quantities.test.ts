/** Corrections of tasks about numbers, times and shapes: real items on which the library is wrong. */
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
type Place = [seed: number, index: number]

async function make(task: string, config: Config, place: Place): Promise<HardenedItem> {
  const canonical = await engine.canonicalizeConfig(task, config)
  const [item] = await makeHardenedItems(engine, task, canonical, [place])
  if (item === undefined) throw new Error(`no item of ${task}`)
  return item
}

const TINY_GAPS = { max_delta: 0.005, min_num_candidates: 3, max_num_candidates: 3 }
const SPELLINGS = { min_decimals: 0, max_decimals: 1, min_value: -10, max_value: 10, min_numbers: 10, max_numbers: 10 }
const ZONES = { task_types: ['datetime_tz'] }
const ANGLES = { min_coord: -3, max_coord: 3, task_types: ['angle_measure'] }
const FLIPS = { min_trials: 15, max_trials: 15 }
const ONES = { min_value: 1, max_value: 3, min_factor: 2 }

/** The answers and what upstream scoring pays for each. */
const right: [task: string, config: Config, place: Place, answers: Record<string, number>][] = [
  ['advanced_geometry', ANGLES, [1001, 0], { '116.565°': 0.05, '116.57°': 1 }],
  ['time_intervals', ZONES, [3, 0], { '74 days, 21:23': expect.closeTo(0.99, 2) }],
  ['number_filtering', SPELLINGS, [44, 0], { "['0', '-6', '-4', '-8', '-8.0', '-2.8', '-8']": 0 }],
  ['decimal_arithmetic', {}, [10, 0], { '-16.0753163141': 1 }],
  ['fraction_simplification', ONES, [0, 0], { '1': 0.01, '1/1': 1 }],
  ['coin_flip', FLIPS, [1, 0], { '19.638%': 0, '6435/32768': 1 }],
  ['complex_arithmetic', {}, [2, 0], { '-8i - 9': 0 }],
]
it.each(right)('pays a right answer: %s %j %j', async (task, config, place, answers) => {
  const { score, scoreUpstream } = await make(task, config, place)
  expect(await scoreUpstream(Object.keys(answers))).toEqual(Object.values(answers))
  expect(await score(Object.keys(answers))).toEqual(Object.keys(answers).map(() => 1))
})

const wrong: [task: string, config: Config, place: Place, answers: string[]][] = [
  ['advanced_geometry', {}, [48, 0], ['54.573°', '54.57369°']],
  ['advanced_geometry', {}, [1, 0], ['(4.0513, -5.4872)', '(4.051, -5.487), (0, 0)']],
  ['time_intervals', {}, [7, 0], ['01:44:89.840', '01:45:29.0840']],
  ['time_intervals', { task_types: ['date'] }, [4, 0], ['92 hours', '92 days, 05:00']],
  ['time_intervals', ZONES, [3, 0], ['74 days, 00:00']],
  ['number_format', TINY_GAPS, [0, 0], ['757,954,644.9849999']],
  ['number_filtering', SPELLINGS, [44, 0], ["['0', '-6', '-4', '-8', '-8', '-2.8', '-8']"]],
  ['power_function', {}, [0, 0], ['9.364e-18']],
  ['decimal_arithmetic', {}, [7, 0], ['25.414']],
  ['coin_flip', FLIPS, [1, 0], ['6434/32768', '0.1963']],
]
it.each(wrong)('pays no wrong answer: %s %j %j', async (task, config, place, answers) => {
  const { score, scoreUpstream } = await make(task, config, place)
  expect(await scoreUpstream(answers)).toEqual(answers.map(() => 1))
  expect(await score(answers)).toEqual(answers.map(() => 0))
})

it('times of day are on one date, whatever the date of today is', async () => {
  const { entry } = await make('time_intervals', { task_types: ['time'] }, [7, 0])
  expect(entry.metadata).toMatchObject({ start_time: expect.stringMatching(/^2000-01-01/) })
})

const notes: [task: string, config: Config, place: Place, note: string | null][] = [
  [
    'time_intervals',
    { task_types: ['date'] },
    [4, 0],
    'Note: dates are written month/day/year; the first day does not count.',
  ],
  ['time_intervals', { task_types: ['datetime'] }, [14, 0], 'Note: leave out the seconds, do not round.'],
  ['time_intervals', {}, [7, 0], null],
  [
    'calendar_arithmetic',
    { tasks: ['count_business_days'] },
    [1, 0],
    'Note: the first date is in 2022 and the second one in 2023.',
  ],
  ['calendar_arithmetic', { tasks: ['weekday_of_date_from_first_date'] }, [1, 0], 'Note: the year is not a leap year.'],
  ['calendar_arithmetic', { tasks: ['weekday_of_date'] }, [4, 0], 'Note: the date is month/day/year.'],
  ['power_function', {}, [3, 0], 'Note: the base is (-524.0707).'],
  ['power_function', {}, [0, 0], null],
  ['decimal_arithmetic', {}, [10, 0], 'Note: round the result of each operation to 12 significant digits.'],
  ['decimal_arithmetic', {}, [7, 0], null],
  ['gsm_symbolic', {}, [77, 6], 'Note: the half puzzle was done in that hour, too.'],
  ['gsm_symbolic', {}, [77, 7], 'Note: the answer is in minutes.'],
  ['gsm_symbolic', {}, [77, 30], 'Note: there are more boys than girls.'],
  ['gsm_symbolic', {}, [77, 49], 'Note: a month has 30 days.'],
  ['gsm_symbolic', {}, [77, 113], 'Note: the answer is the difference in percentage points.'],
  ['gsm_symbolic', {}, [77, 200], 'Note: €750 is all the money that he had at first.'],
  ['gsm_symbolic', {}, [77, 0], null],
]
it.each(notes)('settles the reading: %s %j %j', async (task, config, place, note) => {
  expect((await make(task, config, place)).clarification).toBe(note)
})

const impossible: [task: string, config: Config, place: Place][] = [
  ['simple_geometry', {}, [0, 0]], // 233°
  ['time_intervals', { ...ZONES, max_date_difference_days: 1 }, [31, 0]], // ends nine hours before it starts
  ['fraction_simplification', {}, [309, 0]], // 13/61
  ['gsm_symbolic', {}, [77, 44]], // 817.7 cookies
  ['gsm_symbolic', {}, [77, 47]], // one and a half racks
  ['gsm_symbolic', {}, [77, 59]], // 64.6 students
  ['gsm_symbolic', {}, [77, 255]], // 67.5 tubes
  ['gsm_symbolic', {}, [77, 375]], // 24 of 23 slices
]
it.each(impossible)('hands out no impossible item: %s %j %j', async (task, config, place) => {
  expect((await make(task, config, place)).isAnswerable).toBe(false)
})

it('a key of gsm_symbolic that is cut from a float is not the answer', async () => {
  const { score, scoreUpstream } = await make('gsm_symbolic', {}, [77, 141])
  expect(await scoreUpstream(['6', '7'])).toEqual([1, 0.01])
  expect(await score(['6', '7'])).toEqual([0, 1])
})
