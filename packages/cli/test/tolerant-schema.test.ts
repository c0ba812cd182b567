import { expect, it } from 'vitest'
import { z } from 'zod'
import { makeTolerant } from '../src/api-client.ts'

const Part = z.strictObject({ code: z.enum(['a', 'b']), count: z.int().nullable() })
const Whole = z.strictObject({
  parts: z.array(Part),
  byName: z.record(z.string(), Part),
  first: z.tuple([Part]),
  either: z.union([z.string(), Part]),
  note: z.string().optional(),
})
const part = { code: 'c', count: null, color: 'red' }
const response = { parts: [part], byName: { one: part }, first: [part], either: part, more: 1 }

it('fields and codes of a newer server are accepted and kept, at every depth', () => {
  expect(Whole.safeParse(response).success).toBe(false)
  expect(makeTolerant(Whole).parse(response)).toEqual(response)
})

it.each([
  ['a missing field', { ...response, parts: [{ code: 'a' }] }],
  ['another type', { ...response, byName: { one: { ...part, count: '1' } } }],
  ['no object', 'Hello'],
])('%s is rejected as the contract rejects it', (_name, wrong) => {
  expect(makeTolerant(Whole).safeParse(wrong).success).toBe(false)
})
