import { isNumberArray } from '@reasoning-gym-server/codec/typed-arrays'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { GroupSubmission } from '@reasoning-gym-server/contract/rollout'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packGroup } from '../../../src/features/rollouts/group-payload.ts'
import { parseBody, parseJsonBytes } from '../../../src/http/bodies/json-body-parser.ts'

/** So large that its lists are read apart. */
const padded = (body: object) => ({ ...body, padding: 'x'.repeat(70_000) })
const NAMES = ['tokens', 'masks', 'logprobs'] as const

/** Lists of numbers as they were sent. */
function plain(value: unknown): unknown {
  if (isNumberArray(value)) return Array.from<number>(value).map((x) => (Number.isNaN(x) ? null : x))
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]))
}
function faultOf(text: string, read: (body: Buffer) => unknown) {
  try {
    return { read: plain(read(Buffer.from(text))) }
  } catch (error) {
    return error instanceof ServiceError ? { code: error.code, message: error.message } : error
  }
}

const numbers = fc.array(
  fc.oneof(
    fc.integer({ min: -100, max: 200_000 }),
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -30, max: 0 }),
    fc.integer({ min: -99_999, max: 0 }).map((x) => x / 10_000),
    fc.constantFrom(null, -0, 1e300),
  ),
  { minLength: 150, maxLength: 300 }, // long enough to be worth it
)
const strange = fc.constantFrom('tokens', '"tokens":[1,2]', 'a"tokens', '\\', ']', '☃', 'list-')
// JSON.parse of V8 can misread keys after one with a backslash: https://github.com/nodejs/node/issues/63785
const strangeKey = strange.filter((text) => text !== '\\')
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    strange,
    numbers,
    fc.integer(),
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc.dictionary(fc.oneof(fc.constantFrom(...NAMES, 'rollouts', 'groups'), strangeKey), tie('value'), {
    maxKeys: 4,
  }),
})).value

describe('a large body', () => {
  it('is read as JSON.parse does, wherever lists stand in it', () => {
    fc.assert(
      fc.property(json, json, fc.constantFrom(undefined, 1), (rollout, extra, space) => {
        const body = JSON.stringify(
          padded({ rollouts: [rollout], groups: [{ rollouts: [rollout] }], extra }),
          null,
          space,
        )
        expect(plain(parseBody(Buffer.from(body)))).toEqual(JSON.parse(body))
      }),
    )
  })

  it('gives lists of numbers in rollouts as they were read, and plain ones elsewhere', () => {
    const list = Array.from({ length: 500 }, (_, k) => -(k + 1) / 7)
    const lists = { tokens: list, masks: list, logprobs: list }
    const rollout = { ...lists, arrays: lists, extra: lists }
    for (const body of [{ rollouts: [rollout] }, { groups: [{ rollouts: [rollout], extra: lists }] }]) {
      const read = parseBody(Buffer.from(JSON.stringify(padded(body)))) as Record<string, { rollouts: object[] }[]>
      const found = (read.groups?.[0]?.rollouts ?? read.rollouts)?.[0]
      for (const name of NAMES) expect(found).toHaveProperty(name, Float64Array.from(list))
      expect(found).toMatchObject({ arrays: lists, extra: lists })
      if (read.groups) expect(read.groups[0]).toHaveProperty('extra', lists)
    }
  })

  it('is the same group as a small one with the same content, to the bit', () => {
    fc.assert(
      fc.property(numbers, fc.boolean(), (logprobs, whole) => {
        const tokens = logprobs.map((x, k) => (whole || x === null || Math.abs(x) > 2 ** 53 ? k - 100 : x))
        const group = {
          item_id: 'chain_sum.1.0.WyIwLjEuMjUiLG51bGwse31d',
          rollouts: [{ completion: 'x', tokens, logprobs }],
        }
        const sent = JSON.stringify(group)
        const spaced = Buffer.from(`${sent.slice(0, -1)}${' '.repeat(70_000)}}`)
        const [large, small] = [parseBody(spaced), parseJsonBytes(Buffer.from(sent))].map((body) =>
          packGroup(GroupSubmission.parse(body), true),
        )
        expect(large).toEqual(small)
      }),
    )
  })

  describe.each([
    ['a large body', 500],
    ['a small one', 5],
  ])('the numbers of %s', (_, length) => {
    const takes = (name: string, number: string) => {
      const list = `[${[number, ...Array(length).fill(1)].join()}]`
      const padding = 'x'.repeat(length > 100 ? 70_000 : 0)
      const body = `{"rollouts":[{"completion":"x","${name}":${list}}],"padding":"${padding}"}`
      const { rollouts } = parseBody(Buffer.from(body)) as { rollouts: [] }
      return GroupSubmission.safeParse({ item_id: 'chain_sum.1.0.WyIwLjEuMjUiLG51bGwse31d', rollouts }).success
    }

    it.each(['tokens', 'masks'])('%s are what JSON keeps', (name) => {
      const kept = ['7', '-100', '0.5', '-0', '2147483648', '9007199254740991', '-9007199254740991', '1e15']
      const lost = ['null', '9007199254740992', '-9007199254740993', '18446744073709551615', '1e20', '1e300', '-1e400']
      expect(kept.filter((number) => !takes(name, number))).toEqual([])
      expect(lost.filter((number) => takes(name, number))).toEqual([])
    })

    it('log-probabilities are finite, or null', () => {
      const kept = ['null', '-0.5', '1e40', '-1e300', '1e-400', '9007199254740993']
      expect(kept.filter((number) => !takes('logprobs', number))).toEqual([])
      expect(['1e400', '-1e309'].filter((number) => takes('logprobs', number))).toEqual([])
    })
  })

  it.each([
    (list: string) => `{"rollouts":[{"tokens":${list}}]`,
    (list: string) => `{"rollouts":[{"tokens":${list.replace('[', '[,')}}]}`,
    (list: string) => `{"rollouts":[{"tokens":${list.replace(']', ',]')}}]}`,
    (list: string) => `{"rollouts":[{"tokens":${list.replace('[1', '[01')}}]}`,
    (list: string) => `{"rollouts":[{"tokens":${list.replace('[1', '[NaN')}}]}`,
    (list: string) => `{"rollouts":[{"tokens":${list}}],"__proto__":{}}`,
    (list: string) => `{"a"tokens":${list}}`,
    (list: string) => `{"\\"tokens":${list}`,
    (list: string) => `{"tokens":${list}${'['.repeat(100)}`,
    (list: string) => `${'{"tokens":['.repeat(100_000)}${list}`,
  ])('that is no JSON is refused in the same words (%#)', (bodyOf) => {
    const text = bodyOf(`[${Array(40_000).fill(1).join()}]`)
    expect(faultOf(text, parseBody)).toMatchObject({ code: 'invalid_json' })
    expect(faultOf(text, parseBody)).toEqual(faultOf(text, parseJsonBytes))
  })

  it('has a million numbers in one list at most', () => {
    const body = (count: number) => `{"rollouts":[{"tokens":[${Array(count).fill(0).join()}]}]}`
    expect(faultOf(body(1_000_000), parseBody)).toHaveProperty('read')
    expect(faultOf(body(1_000_001), parseBody)).toMatchObject({ code: 'invalid_json' })
  })
})
