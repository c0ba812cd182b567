import { expect, it } from 'vitest'
import { decodeBlob, encodeBlob } from '../src/compressed-blob.ts'

/** On both sides of where the header of a frame writes its size in more bytes. */
const SIZES = [0, 1, 255, 256, 511, 512, 65_791, 65_792, 1_000_000]

it.each(SIZES)('%i bytes come back, packed or not', (size) => {
  const repeated = Buffer.alloc(size, 'the same again and again, ')
  const random = Buffer.from(Array.from({ length: size }, (_, k) => (k * k * 2654435761) >>> 13))
  for (const bytes of [repeated, random]) expect(decodeBlob(encodeBlob(bytes)).equals(bytes)).toBe(true)
})

it('a blob of an unknown format is refused', () => {
  expect(() => decodeBlob(Buffer.of(1, 2, 3))).toThrow('no known format')
})
