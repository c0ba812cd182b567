import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatJsonLine, readLines } from '../src/json-lines.ts'

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Buffer, size: number): Promise<string[]> {
  const lines: string[] = []
  for await (const line of readLines(inPieces(bytes, size))) lines.push(line)
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

it('what is written is one line for node:readline and Python’s splitlines, and says the same', async () => {
  const signs = [
    'a',
    '"',
    '\\',
    '\n',
    '\r',
    '\v',
    '\f',
    '\u001c',
    '\u001d',
    '\u001e',
    '\u0085',
    '\u2028',
    '\u2029',
    '😀',
  ]
  const text = fc.string({ unit: fc.constantFrom(...signs) })
  // JSON.parse of V8 can read an escaped key as another one that it has seen: https://github.com/nodejs/node/issues/63785
  const key = text.filter((drawn) => !formatJsonLine([drawn]).includes('\\'))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.dictionary(key, text), { minLength: 1 }), async (values) => {
      const written = values.map((value) => formatJsonLine(value))
      const seen: string[] = []
      for await (const line of createInterface({ input: Readable.from(written) })) seen.push(line)
      expect(seen).toEqual(written.map((line) => line.slice(0, -1)))
      expect(seen.map((line) => JSON.parse(line))).toEqual(values)
      expect(written.join('').split(/[\p{Cc}\u2028\u2029]/u)).toHaveLength(values.length + 1) // str.splitlines
    }),
  )
})

it('writes half of a surrogate pair as U+FFFD, and keeps pairs and backslashes', () => {
  const text = 'half \ud83d, \udc00 and \ud83d\ude00, \\ud83d'
  const line = formatJsonLine({ [text]: [text] })
  expect(line).not.toMatch(/(?<!\\)\\ud/)
  expect(JSON.parse(line)).toEqual({ [text.toWellFormed()]: [text.toWellFormed()] })
})
