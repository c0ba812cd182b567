import fc from 'fast-check'
import { expect, it } from 'vitest'
import { REWARD_WIRES } from '../../../../src/features/adapters/reward-wires/index.ts'
import { compileValidator } from '../../../../src/http/validation.ts'

/** Stands for `1e999`, which JSON may contain, and which parses as Infinity. */
const INFINITE = '1e999'
const odd = fc.constantFrom<unknown[]>(
  undefined,
  null,
  7,
  2 ** 60,
  INFINITE,
  '',
  'text',
  [],
  [null],
  {},
  { item_id: 'x' },
  true,
)
const texts = fc.array(fc.oneof(fc.string(), odd), { maxLength: 3 })
const response = fc.record({
  output: fc.oneof(fc.array(fc.record({ type: fc.constant('message'), content: fc.oneof(fc.string(), odd) })), odd),
  usage: fc.oneof(fc.record({ output_tokens: fc.oneof(fc.nat(), odd) }), odd),
})
const sample = fc.record(
  { prompt: odd, response: fc.oneof(fc.string(), odd), label: fc.oneof(fc.string(), odd), more: odd },
  { requiredKeys: [] },
)

/** Bodies of every wire, and of none. */
const body = fc.oneof(
  fc.record({ query: fc.oneof(texts, odd), prompts: texts, labels: fc.oneof(texts, odd) }, { requiredKeys: [] }),
  texts.map((list) => ({ query: list, prompts: list, labels: list, more: 1 })),
  sample,
  fc.array(fc.oneof({ weight: 5, arbitrary: sample }, odd), { maxLength: 3 }),
  fc.record(
    { item_id: odd, response: fc.oneof(response, odd), metadata: odd, verification_input: fc.oneof(sample, odd) },
    { requiredKeys: [] },
  ),
  fc.record({ samples: fc.array(fc.record({ item_id: fc.string(), completion: fc.string() })) }),
  odd,
)

it.each(REWARD_WIRES.map((wire) => [wire.adapter, wire] as const))(
  '%s: a body is read as its schema reads it, and refused where that refuses it',
  (_adapter, wire) => {
    const validate = compileValidator({ schema: wire.body, httpPart: 'body' })
    let accepted = 0
    fc.assert(
      fc.property(body, (value) => {
        const text = (JSON.stringify(value) ?? 'null').replaceAll(`"${INFINITE}"`, INFINITE)
        const json = JSON.parse(text) as unknown
        const [given, wanted] = [validate(json), wire.body.safeParse(json)]
        expect('value' in given).toBe(wanted.success)
        if (!('value' in given) || !wanted.success) return
        accepted++
        expect(wire.read(given.value as object)).toEqual(wire.read(wanted.data))
      }),
      { numRuns: 2000 },
    )
    expect(accepted).toBeGreaterThan(50)
  },
)
