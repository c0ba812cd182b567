import { encodeColumn, formatColumnAsNumbers, formatColumnAsTyped } from '@reasoning-gym-server/codec/columns'
import { type Base64Array, type Dtype, getOrDecodeBytes, viewAsNumbers } from '@reasoning-gym-server/codec/typed-arrays'
import { GroupSubmission, type Rollout } from '@reasoning-gym-server/contract/rollout'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packGroup, RolloutFormatter, unpackTexts } from '../../../src/features/rollouts/group-payload.ts'

const typed = (dtype: Dtype, values: { buffer: ArrayBufferLike }): Base64Array => ({
  dtype,
  data: Buffer.from(values.buffer).toString('base64'),
})
const group = (rollouts: Rollout[], more: Partial<GroupSubmission> = {}): GroupSubmission => ({
  item_id: 'x',
  rollouts,
  ...more,
})
const through = (input: GroupSubmission, style: 'numbers' | 'base64' = 'numbers') => {
  const { texts, arrays } = packGroup(input, true)
  const all = [...input.rollouts.keys()]
  const formatter = new RolloutFormatter(unpackTexts(texts), arrays, style)
  return all.map((k) => JSON.parse(formatter.format(k)) as Rollout)
}
const accepts = (name: string, number: string) => {
  const rollout: unknown = JSON.parse(`{"completion":"x","${name}":[${number},1]}`)
  return GroupSubmission.safeParse({ item_id: 'chain_sum.1.0.WyIwLjEuMjUiLG51bGwse31d', rollouts: [rollout] }).success
}
const decoded = (text: string) => {
  const { dtype, data } = JSON.parse(text) as Base64Array
  return [dtype, [...viewAsNumbers(dtype, getOrDecodeBytes({ dtype, data }))]]
}

describe('a list of numbers', () => {
  const numbers = fc.array(
    fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.float({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: -99_999, max: 0 }).map((x) => x / 10_000),
      fc.constant(null),
    ),
  )

  it('comes back equal, whatever its numbers', () => {
    fc.assert(
      fc.property(numbers, fc.boolean(), (values, real) => {
        const sent = JSON.stringify(values)
        const kept = encodeColumn(JSON.parse(sent) as (number | null)[], real)
        expect(JSON.parse(formatColumnAsNumbers(kept))).toEqual(JSON.parse(sent))
      }),
      { examples: [[[-0.00002836148632923141], false]] },
    )
  })

  it('takes the smallest form that gives it back', () => {
    const form = (values: (number | null)[], real = false) => encodeColumn(values, real).encoding
    expect(form([1, -100, 2 ** 31 - 1])).toBe('int32')
    expect(form([2 ** 31])).toBe('float32')
    expect(form([Math.fround(-0.1), null])).toBe('float32')
    expect(form([-0.1234, null, 1])).toBe('decimal/4')
    expect(form([-0.123456])).toBe('decimal/6')
    expect(form([0.1 + 0.2])).toBe('float64')
    expect(form([1, 1], true)).toBe('float32')
  })

  it('is the same to a reader with integers of any size, such as Python', () => {
    const asPython = (list: string) =>
      list
        .slice(1, -1)
        .split(',')
        .map((text) => (/^-?\d+$/.test(text) ? BigInt(text) : BigInt(Number(text))))
    const whole = [2 ** 53 - 1, 2 ** 53, -(2 ** 60), 1.1314356042910925e17, 123456789012345680000, 3e38]
    const singles = whole.map(Math.fround)
    for (const values of [whole, singles])
      expect(asPython(formatColumnAsNumbers(encodeColumn(values)))).toEqual(values.map(BigInt))
    expect(formatColumnAsNumbers(encodeColumn([2 ** 60, null]))).toBe('[1.152921504606847e+18,null]')
  })

  it.each(['tokens', 'masks'])('as %s has only numbers that JSON keeps', (name) => {
    const kept = ['7', '-100', '0.5', '-0', '2147483648', '9007199254740991', '-9007199254740991', '1e15']
    const lost = ['null', '9007199254740992', '-9007199254740993', '18446744073709551615', '1e20', '1e300', '-1e400']
    expect(kept.filter((number) => !accepts(name, number))).toEqual([])
    expect(lost.filter((number) => accepts(name, number))).toEqual([])
  })

  it('as log-probabilities is finite, with nulls', () => {
    const kept = ['null', '-0.5', '1e40', '-1e300', '1e-400', '9007199254740993']
    expect(kept.filter((number) => !accepts('logprobs', number))).toEqual([])
    expect(['1e400', '-1e309'].filter((number) => accepts('logprobs', number))).toEqual([])
  })

  it('can be had as typed data, exactly', () => {
    expect(decoded(formatColumnAsTyped(encodeColumn([1, 2])))).toEqual(['int32', [1, 2]])
    expect(decoded(formatColumnAsTyped(encodeColumn([-0.1234, null])))).toEqual(['float64', [-0.1234, Number.NaN]])
    expect(decoded(formatColumnAsTyped(encodeColumn([0.5, null], true)))).toEqual(['float32', [0.5, Number.NaN]])
  })
})

describe('typed data', () => {
  it('comes back bit for bit, as typed data or as numbers', () => {
    const bits = Uint32Array.of(0x7fc00001, 0x80000000, 0x3f800000, 0xff800000) // a NaN with its payload, −0, 1, −∞
    const tokens = typed('int32', Int32Array.of(-1, 2, 3, 4))
    const rollout = {
      completion: 'x',
      tokens,
      logprobs: typed('float32', bits),
      arrays: { b: typed('uint8', Uint8Array.of(1)) },
    }
    expect(through(group([rollout]), 'base64')).toEqual([rollout])
    expect(through(group([rollout]))).toEqual([
      { completion: 'x', tokens: [-1, 2, 3, 4], logprobs: [null, 0, 1, null], arrays: { b: [1] } },
    ])
  })

  it.each([
    [{ dtype: 'int32', data: 'AAAAAAA=' }, 'five bytes are no int32'],
    [{ dtype: 'uint8', data: 'AAA' }, 'no padding'],
    [{ dtype: 'uint8', data: 'AA*A' }, 'no base64'],
    [{ dtype: 'int64', data: 'AAAA' }, 'a type that is not taken'],
  ])('that cannot be read is refused: %j', (tokens) => {
    expect(GroupSubmission.safeParse({ item_id: 'x', rollouts: [{ completion: '', tokens }] }).success).toBe(false)
  })

  it('in arrays is checked too, and other things there are carried unread', () => {
    const fits = (arrays: object) =>
      GroupSubmission.safeParse({ item_id: 'x', rollouts: [{ completion: '', arrays }] }).success
    expect(fits({ a: { dtype: 'int16', data: 'AAA=' } })).toBe(true)
    expect(fits({ a: { dtype: 'int16', data: 'AAAA' } })).toBe(false)
    expect(fits({ a: { dtype: 'bfloat16', data: 'AAAA' }, b: [[1], 'x'], c: null })).toBe(true)
  })

  it('has one length with its like, however each is written', () => {
    const fits = (tokens: Base64Array | number[], masks: Base64Array | number[]) =>
      GroupSubmission.safeParse({ item_id: 'x', rollouts: [{ completion: '', tokens, masks }] }).success
    expect(fits([1, 2, 3], typed('uint8', Uint8Array.of(1, 2, 3)))).toBe(true)
    expect(fits([1, 2, 3, 4], typed('uint8', Uint8Array.of(1, 2, 3)))).toBe(false)
    expect(fits(typed('int16', Int16Array.of(1)), typed('int32', Int32Array.of(1)))).toBe(true)
  })
})

describe('a group', () => {
  const rollouts: Rollout[] = [
    { completion: 'ä\u2028"', tokens: [1], masks: [-100], logprobs: [null], finish_reason: null, policy_version: 3 },
    {
      messages: [{ role: 'assistant', content: 'x', tool: 1 }],
      arrays: { z: [0.1], a: 'text', deep: { x: [1] } },
      extra: [],
    },
    { completion: '', arrays: {}, tokens: [] },
  ]

  it('comes back as it was sent, whole or in part', () => {
    expect(through(group(rollouts, { extra: { a: 1 } }))).toEqual(rollouts)
    const { texts, arrays } = packGroup(group(rollouts), true)
    const formatter = new RolloutFormatter(unpackTexts(texts), arrays, 'numbers')
    expect(JSON.parse(formatter.format(1))).toEqual(rollouts[1])
  })

  it('has one hash for equal content in any order of keys, and another for any other content', () => {
    const base = group([{ completion: 'x', tokens: [1, 2], logprobs: [-0.5, null], arrays: { a: [1], b: [2] } }])
    const hash = (input: GroupSubmission) => packGroup(input, true).contentHash
    const turned = group([{ arrays: { b: [2], a: [1] }, logprobs: [-0.5, null], tokens: [1, 2], completion: 'x' }])
    expect(hash(turned)).toBe(hash(base))
    expect(hash({ ...base, group_id: 'named' })).toBe(hash(base))
    const others: GroupSubmission[] = [
      group([{ ...turned.rollouts[0], tokens: [1, 3] }]),
      group([{ ...turned.rollouts[0], tokens: [1], logprobs: [-0.5], masks: [2] }]),
      group([{ ...turned.rollouts[0], arrays: { a: [1], c: [2] } }]),
      group([{ ...turned.rollouts[0], logprobs: [-0.5, -0.5] }]),
      { ...base, policy_version: 1 },
      { ...base, buffer: false },
    ]
    expect(new Set([base, ...others].map(hash)).size).toBe(others.length + 1)
  })

  it('takes less than half of its JSON: random tokens, masks and log-probabilities of 16 × 2,048', () => {
    const random = (n: number, of: (k: number) => number) => Array.from({ length: n }, (_, k) => of(k))
    const big = group(
      random(16, (k) => k).map(() => {
        const tokens = random(2048, () => Math.floor(Math.random() * 151_000))
        const masks = tokens.map((token, k) => (k < 256 ? -100 : token))
        const logprobs = random(2048, (k) => (k < 256 ? 1 : Math.fround(Math.log(Math.random()))))
        return { completion: tokens.map((token) => token.toString(36)).join(' '), tokens, masks, logprobs }
      }),
    )
    const { texts, arrays } = packGroup(big, true)
    expect(texts.length + arrays.length).toBeLessThan(JSON.stringify(big).length / 2)
    expect(through(big)).toEqual(big.rollouts)
  })
})
