import fc from 'fast-check'
import { expect, it } from 'vitest'
import { getOrDecodeBytes, isBase64Array } from '../src/typed-arrays.ts'

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const sign = fc.constantFrom(...'ABab01+/=-_ \n\u00e9\u2603".')

it('typed data is whole base64, of whole numbers', () => {
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 12 }), fc.constantFrom('uint8', 'int16', 'int32'), (signs, dtype) => {
      const data = signs.join('')
      const bytes = Buffer.from(data, 'base64').byteLength
      const whole = data.length % 4 === 0 && BASE64.test(data) && bytes % { uint8: 1, int16: 2, int32: 4 }[dtype] === 0
      // Padding stands for what is missing of three bytes: all else in its place is no base64.
      const padded = bytes === (data.length / 4) * 3 - (/=*$/.exec(data)?.[0].length ?? 0)
      expect(isBase64Array({ dtype, data })).toBe(whole && padded)
    }),
    { numRuns: 5000 },
  )
})

it('every text of bytes is typed data, and gives them back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const typed = { dtype: 'uint8' as const, data: Buffer.from(bytes).toString('base64') }
      expect(isBase64Array(typed)).toBe(true)
      expect([...getOrDecodeBytes(typed)]).toEqual([...bytes])
    }),
  )
})

it.each([
  {},
  null,
  [],
  'AAAA',
  { dtype: 'int32' },
  { dtype: 'toString', data: '' },
  { dtype: 'uint8', data: '', more: 1 },
])('%j is none', (value) => expect(isBase64Array(value)).toBe(false))
