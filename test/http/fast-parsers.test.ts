import { ServiceError } from '@reasoning-gym-server/contract/errors'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { z } from 'zod'
import '../../routes/index.ts' // declares every fast parser
import { ScoreBody } from '../../routes/score.ts'
import { REWARD_WIRES } from '../../src/features/adapters/index.ts'
import { parseJsonBytes } from '../../src/http/bodies/json-body-parser.ts'
import API_EXAMPLES from '../../src/http/openapi/examples.json' with { type: 'json' }
import { compileValidator, FAST_PARSERS } from '../../src/http/validation.ts'

/** Requests that a schema accepts, which the search changes at any place. */
const examples = new Map<z.ZodType, unknown[]>([
  [
    ScoreBody,
    [
      { rollouts: [{ recipe: { task: 'chain_sum', seed: 1, index: 4294967295 }, completion: '1' }] },
      { rollouts: [{ item_id: 'x', completion: '1' }], extraction: 'bare', dual_format: false, scoring: 'hardened' },
      {
        rollouts: [
          { item_id: 'x', answer: '1' },
          { recipe: { task: 'x', config: {} }, completion: '' },
        ],
        detail: 'rewards',
      },
      { groups: [{ item_id: 'x', completions: ['1', '2'] }] },
    ],
  ],
  ...REWARD_WIRES.flatMap((wire): [z.ZodType, unknown[]][] => [
    [wire.body, [...listExampleBodies(wire.operationId), { samples: [] }]],
    [wire.query, [{}, { unscored: 'mean' }, { unscored: 'mean', shape: 'object' }]],
  ]),
])

/** The bodies that the API document shows for an operation, with a run or without. */
function listExampleBodies(operationId: string): unknown[] {
  const found = Object.entries(API_EXAMPLES as Record<string, object>).filter(([id]) => id.startsWith(operationId))
  return found.flatMap(([, example]) => ('bodies' in example ? Object.values(example.bodies as object) : []))
}

/** JSON that no value of JavaScript is written as, such as 1e999, which is read as Infinity. */
const literal = (json: string) => `§${json}§`
const toJson = (value: unknown) =>
  JSON.stringify(value).replaceAll(/"§(.*?)§"/g, (_, json: string) => JSON.parse(`"${json}"`))

const deep = Array.from({ length: 20 }).reduce<unknown>((value) => [{ value }], 0)
const numbers = '-0 1e999 -1e999 1e300 1e21 9007199254740992 9007199254740993 4294967296 5e-324'.split(' ')
const odd = fc.oneof(
  fc.constantFrom<unknown[]>(null, -1, 0.5, 7, '7', '', ' ', '\ud800', 'x'.repeat(2049), [], [[]], {}, true, deep),
  fc.constantFrom(...numbers, '{"__proto__":{"response":1}}', '{"constructor":{"name":1}}').map(literal),
)
const oddName = fc.constantFrom('more', 'run', '__proto__', 'constructor', 'toString', 'length', '0', '')

const rarely = <T>(rare: fc.Arbitrary<T>, usual: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: rare })

/** The example with other values, elements and fields in some places. */
function change(example: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(example)) {
    const elements = example.map(change)
    return rarely(odd, rarely(fc.array(fc.oneof(...elements, odd), { maxLength: 4 }), fc.tuple(...elements)))
  }
  if (typeof example !== 'object' || example === null) return rarely(odd, fc.constant(example))
  const fields = fc.record(Object.fromEntries(Object.entries(example).map(([name, value]) => [name, change(value)])))
  const missing = rarely(fc.constantFrom(...Object.keys(example), ''), fc.constant(undefined))
  const added = rarely<[string, unknown][]>(fc.tuple(fc.tuple(oddName, odd)), fc.constant([]))
  const changed = fc
    .tuple(fields, missing, added)
    .map(([all, gone, more]) => Object.fromEntries([...Object.entries(all).filter(([name]) => name !== gone), ...more]))
  return rarely(odd, changed)
}

/** Returns undefined for a body that is refused before it is validated. */
function parseJson(value: unknown): unknown {
  try {
    return parseJsonBytes(Buffer.from(toJson(value)))
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

it('every fast parser is among those that are searched', () => {
  expect([...FAST_PARSERS.keys()].filter((schema) => !examples.has(schema))).toEqual([])
})

it.each([...FAST_PARSERS].map(([schema, parse]) => [schema.meta()?.id ?? 'a query', schema, parse] as const))(
  'the fast parser of %s accepts what its schema accepts, as the same value',
  (_name, schema, parse) => {
    const validate = compileValidator({ schema })
    let [fast, refused] = [0, 0]
    const search = fc.property(fc.oneof(...(examples.get(schema) ?? []).map(change)), (generated) => {
      const value = parseJson(generated)
      const [given, wanted] = [validate(value), schema.safeParse(value ?? {})]
      expect('value' in given).toBe(wanted.success)
      if (wanted.success) expect(given).toEqual({ value: wanted.data })
      if (parse(value)) fast++
      if (!wanted.success) refused++
    })
    fc.assert(search, { numRuns: 1500 })
    expect(fast).toBeGreaterThan(100)
    expect(refused).toBeGreaterThan(100)
  },
)

it('a body of POST /score with too many completions is refused', () => {
  const validate = compileValidator({ schema: ScoreBody, httpPart: 'body' })
  const rollouts = (count: number) => ({
    rollouts: Array.from({ length: count }, () => ({ item_id: 'x', completion: '' })),
  })
  expect(validate(rollouts(4096))).toHaveProperty('value')
  expect(validate(rollouts(4097))).toHaveProperty('error')
})
