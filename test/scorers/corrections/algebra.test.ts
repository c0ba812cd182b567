/** Corrections of sums, equations, integrals and sequences: what is paid now, what no longer, and the notes. */
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

async function make(task: string, config: Config, seed: number): Promise<HardenedItem> {
  const [item] = await makeHardenedItems(engine, task, await engine.canonicalizeConfig(task, config), [[seed, 0]])
  if (item === undefined) throw new Error(`no item of ${task} with seed ${seed}`)
  return item
}

const FEW_TERMS = { min_terms: 1, max_terms: 2, max_degree: 2, max_bounds: 5 }
const SMALL_PRODUCT = { max_polynomials: 2, min_terms: 3, max_terms: 3, max_degree: 2, max_value: 10 }
const LOGARITHMS = { problem_types: ['log_inverse_trig'], problem_type_weights: [1] }
const POWERS = { problem_types: ['trigonometric'], problem_type_weights: [1] }
const THREE_TERMS = { min_terms: 3, max_terms: 3, max_value: 30, operators_weights: [0.45, 0.45, 0.1] }
const COSINES = '-x**3*sin(2*x)/2 - 3*x**2*cos(2*x)/4 + 3*x*sin(2*x)/4 + 3*cos(2*x)/8 + C'

it.each<[what: string, task: string, config: Config, seed: number, answer: string, upstream: number, hardened: number]>(
  [
    ['zero', 'base_conversion', { max_value: 3 }, 32, '0', 0, 1],
    ['no digits', 'base_conversion', { max_value: 3 }, 32, '', 0, 0],
    ['an exact quotient', 'basic_arithmetic', {}, 1003, '1276/1325', 0, 1],
    ['a rounded quotient', 'basic_arithmetic', {}, 1003, '0.96', 0.25, 1],
    ['a quotient rounded wrong', 'basic_arithmetic', {}, 1003, '0.97', 0.25, 0],
    ['a quotient rounded down', 'basic_arithmetic', {}, 1003, '0', 1, 0],
    ['a hexadecimal number', 'bitwise_arithmetic', { difficulty: 1 }, 0, '0x5ae8', 1, 1],
    ['a hexadecimal number without its prefix', 'bitwise_arithmetic', { difficulty: 1 }, 0, '5AE8', 0, 1],
    ['a decimal number', 'bitwise_arithmetic', { difficulty: 1 }, 0, '23272', 1, 0],
    ['rounded roots', 'polynomial_equations', {}, 1003, '-1.8619, 0, 1.8619', 1, 1],
    ['roots cut to four decimals', 'polynomial_equations', {}, 1003, '-1.8618, 0, 1.8618', 0.9993, 1],
    ['roots rounded down', 'polynomial_equations', {}, 1003, '-1.8619, 0, 1.8618', 0.9997, 1],
    ['roots with a wrong last place', 'polynomial_equations', {}, 1003, '-1.8617, 0, 1.8618', 0.999, 0.9997],
    ['an integral that is written again', 'simple_integration', FEW_TERMS, 1001, 'Integral(10*x, x) + C', 1, 0],
    ['an antiderivative', 'simple_integration', FEW_TERMS, 1001, '5*x**2 + C', 1, 1],
    ['a decimal', 'simple_integration', FEW_TERMS, 1003, '-4*X**2 - 1.5*X + C', 1, 1],
    ['a constant integrand in X with dx', 'simple_integration', FEW_TERMS, 1013, '-9*x + C', 0, 1],
    ['a constant integrand in X with dX', 'simple_integration', FEW_TERMS, 1013, '-9*X + C', 1, 0],
    [
      'the key of an integral that is not solved',
      'intermediate_integration',
      {},
      29,
      '-Integral(x**3*cos(2*x), x) + C',
      1,
      0,
    ],
    ['an integral that is solved', 'intermediate_integration', {}, 29, COSINES, 1, 1],
    ['an absolute value', 'intermediate_integration', {}, 13, '3*x*atan(x) - 1.5*log(abs(x**2 + 1)) + C', 0, 1],
    ['another name of a function', 'intermediate_integration', {}, 13, '3*x*arctan(x) - 3*log(x**2 + 1)/2', 0, 1],
    ['a multiple of a logarithm', 'intermediate_integration', LOGARITHMS, 0, '-6*x*log(x) + 6*x + C', 0, 1],
    ['another logarithm', 'intermediate_integration', LOGARITHMS, 0, '-6*x*log(2*x) + 6*x + C', 0, 0],
    ['a power as multiple angles', 'intermediate_integration', POWERS, 0, 'cos(18*x + 14)/4 - cos(36*x + 28)/16', 1, 1],
    ['a product', 'polynomial_multiplication', SMALL_PRODUCT, 1002, '-45 + 47*z - 17*z**2 + 3*z**3', 1, 1],
    ['like terms', 'polynomial_multiplication', SMALL_PRODUCT, 1002, '3*z**3 - 17*z**2 + 40*z + 7*z - 45', 1, 0],
    ['numbers to multiply', 'polynomial_multiplication', SMALL_PRODUCT, 1002, '3*z**3 - 17*z**2 + 47*z - 9*5', 1, 0],
    ['powers to multiply', 'polynomial_multiplication', SMALL_PRODUCT, 1002, '3*z*z*z - 17*z**2 + 47*z - 45', 1, 0],
    ['another antiderivative', 'intermediate_integration', {}, 13, '3*x*atan(x) - 3*log(x**2 + 2)/2', 0, 0],
  ],
)('%s (%s)', async (_, task, config, seed, answer, upstream, hardened) => {
  const item = await make(task, config, seed)
  const [[library = 0], [ours = 0]] = [await item.scoreUpstream([answer]), await item.score([answer])] as const
  expect(
    [library, ours].map((score) => Math.round(score * 1e4) / 1e4),
    item.question,
  ).toEqual([upstream, hardened])
})

it.each<[what: string, task: string, config: Config, seed: number, isAnswerable: boolean, note: string | null]>([
  ['a number without digits', 'base_conversion', { max_value: 3 }, 2, false, null],
  ['a product that is multiplied out', 'polynomial_multiplication', SMALL_PRODUCT, 1006, false, null],
  ['a product', 'polynomial_multiplication', SMALL_PRODUCT, 1002, true, null],
  ['an equation without its unknown', 'simple_equations', THREE_TERMS, 1205, false, null],
  ['an equation', 'simple_equations', THREE_TERMS, 1206, true, null],
  ['claws', 'leg_counting', { max_animals: 3 }, 3, true, 'Note: the claws of a lobster count as legs.'],
  ['arms', 'leg_counting', { max_animals: 3 }, 4, true, 'Note: the five arms of a starfish count as legs.'],
  ['legs alone', 'leg_counting', { max_animals: 3 }, 0, true, null],
  ['a sequence that halves or curves', 'number_sequence', {}, 1013, false, null],
  ['a sequence of sums', 'number_sequence', {}, 1000, true, null],
  ['an integral in x', 'simple_integration', FEW_TERMS, 1001, true, null],
  ['an integral in X', 'simple_integration', FEW_TERMS, 1003, true, 'Note: X is the variable of integration.'],
  ['a constant integrand', 'simple_integration', FEW_TERMS, 1013, true, null],
])('%s (%s)', async (_, task, config, seed, isAnswerable, note) => {
  const item = await make(task, config, seed)
  expect([item.isAnswerable, item.clarification], item.question).toEqual([isAnswerable, note])
})
