import fc from 'fast-check'
import { expect, it } from 'vitest'
import { linesOf } from '../src/json-lines.ts'

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Buffer, size: number): Promise<string[]> {
  const lines: string[] = []
  for await (const line of linesOf(inPieces(bytes, size))) lines.push(line)
  return lines
}

it('lines are as they were written, whatever is in them and wherever the stream is cut', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '\u0085', '\u2028', '\u2029', '\r', '\n', '\v', '😀', '"') })
  await fc.assert(
    fc.asyncProperty(fc.array(text), fc.integer({ min: 1, max: 9 }), fc.boolean(), async (values, size, ends) => {
      const written = values.map((value) => JSON.stringify(value))
      const bytes = Buffer.from(written.join('\n') + (ends && written.length > 0 ? '\n' : ''))
      expect(await read(bytes, size)).toEqual(written)
    }),
  )
  expect(await read(Buffer.from('1\r\n\n2'), 2)).toEqual(['1\r', '', '2'])
})
