import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseNumberList } from '../../src/number-lists/number-lists.ts'
import type { NumberArray } from '../../src/typed-arrays.ts'
import { decimal, halfway, logProbability, longDecimal, nearHalfway, pythonText } from './decimals.ts'

const PIECE = 65536

/** Reads between other bytes, where a list stands in a body. */
function list(inside: string): NumberArray | undefined {
  const bytes = Buffer.from(`{"a":[${inside}],"b":[1,2]}`, 'latin1')
  return parseNumberList(bytes, 6, 6 + inside.length)
}

function read(inside: string): Float64Array | undefined {
  const numbers = list(inside)
  return numbers && Float64Array.from(numbers)
}

/** What JSON.parse makes of the same; undefined where it throws, or finds other things than numbers. */
function parsed(inside: string): Float64Array | undefined {
  try {
    const entries: unknown[] = JSON.parse(`[${inside}]`)
    if (!entries.every((entry) => entry === null || typeof entry === 'number')) return undefined
    return Float64Array.from(entries, (entry) => entry ?? Number.NaN)
  } catch {
    return undefined
  }
}

const bits = (numbers: Float64Array | undefined) => numbers && Buffer.from(numbers.buffer)

function expectSame(inside: string): void {
  const [ours, theirs] = [bits(read(inside)), bits(parsed(inside))]
  if (!ours || !theirs?.equals(ours)) expect({ inside, ours: read(inside) }).toEqual({ inside, ours: parsed(inside) })
}

function expectSameOrRefused(inside: string): void {
  if (read(inside) !== undefined) expectSame(inside)
}

/** Many lists of such entries, with blanks around some of them. */
function lists(entry: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const blanks = fc.oneof(
    { weight: 8, arbitrary: fc.constant('') },
    fc.string({ unit: fc.constantFrom(...' \n\r\t'), maxLength: 3 }),
  )
  const spaced = fc.tuple(blanks, entry, blanks).map((parts) => parts.join(''))
  return fc.array(spaced, { minLength: 1, maxLength: 40 }).map((entries) => entries.join())
}

const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => (Object.is(x, -0) ? '-0' : String(x)))
const integer = fc.integer().map(String)
const anything = fc.oneof(integer, number, decimal, longDecimal, logProbability.map(pythonText), fc.constant('null'))

describe('a list that is read', () => {
  it.each([
    ['integers', fc.oneof(integer, fc.nat({ max: 200_000 }).map(String), fc.constantFrom('0', '-0', '1', '-100'))],
    ['integers of up to 19 digits', fc.bigInt({ min: -(10n ** 19n) + 1n, max: 10n ** 19n - 1n }).map(String)],
    ['log-probabilities as JavaScript spells them', logProbability.map(String)],
    ['log-probabilities as Python spells them', logProbability.map(pythonText)],
    ['doubles between 0 and 1', fc.double({ min: 1e-15, max: 1, noNaN: true }).map(String)],
    [
      'decimals of few digits',
      fc.tuple(fc.integer({ min: -9999, max: 9999 }), fc.nat({ max: 9 })).map(([x, k]) => (x / 10 ** k).toFixed(k)),
    ],
    ['halfway cases and what is beside them', halfway],
    ['18 places that come near to halfway', nearHalfway],
    ['nulls among numbers', fc.constantFrom('null', '1', '-0.5')],
  ])('%s: it gives what JSON.parse gives, to the bit, and refuses none', (_, entry) => {
    fc.assert(fc.property(lists(entry), expectSame), { numRuns: 600 })
  })

  it.each([
    ['doubles of every size', number],
    ['decimals of every shape', decimal],
    ['15 to 19 digits with exponents', longDecimal],
    ['anything', anything],
  ])('%s: it gives what JSON.parse gives, or refuses', (_, entry) => {
    fc.assert(fc.property(entry, expectSameOrRefused), { numRuns: 6000 })
    fc.assert(fc.property(lists(entry), expectSameOrRefused), { numRuns: 300 })
  })

  it('may have 19 digits, and 40 places on either side of the point', () => {
    const longest = [
      '9999999999999999999',
      '9.999999999999999999',
      '0.00000000000000000000123456789',
      '-1E+40',
      '1e-40',
    ]
    const zeros = [
      '0.0000000000000000',
      '-0.00000000000000000',
      '0e999999999',
      '-0.0E-999',
      '0.000000000000000000000000000',
    ]
    for (const entry of [...longest, ...zeros]) expectSame(entry)
    for (const beyond of ['18446744073709551616', '1e41', '1e-41', '1e999999999', '1e-999999999', '1e400']) {
      expect(read(beyond), beyond).toBeUndefined()
    }
  })
})

describe('what is no list of numbers', () => {
  const wrong =
    '01 00 -01 +1 .5 -.5 1. -1.e5 1e 1e+ 1.5e- - -- NaN -null nul nulll Infinity true "1" [1] {} 0x1 1_0 1,, ,1 1, , 1;2'
  it.each([
    ...wrong.split(' '),
    '1 2',
    '- 1',
    '1. 5',
    '1e 5',
    ' ',
    '1,\u00a02',
    '1\v',
    '1\0',
    ':',
    '1:',
    '0.1234567812345678:',
  ])('is refused: %j', (entry) => {
    for (const inside of [entry, `1,${entry}`, `${entry},1`, `0.1234567812345678,${entry}`]) {
      expect(read(inside), inside).toBeUndefined()
    }
  })

  it('is refused wherever it is wrong by some bytes', () => {
    const sign = fc.oneof(
      fc.constantFrom(...'0123456789.,-+eE nul[]"\n:;/'),
      fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    )
    const mutation = fc.record({
      place: fc.nat({ max: 400 }),
      cut: fc.nat({ max: 2 }),
      put: fc.array(sign, { maxLength: 2 }),
    })
    fc.assert(
      fc.property(lists(anything), fc.array(mutation, { minLength: 1, maxLength: 3 }), (list, mutations) => {
        let text = list
        for (const { place, cut, put } of mutations) {
          const at = place % (text.length + 1)
          text = text.slice(0, at) + put.join('') + text.slice(at + cut)
        }
        expectSameOrRefused(text)
      }),
      { numRuns: 6000 },
    )
  })
})

describe('a list of more bytes than are read at once', () => {
  const entries = ['-0.12345678955316544', '7', 'null', '150000', '-1.1920928955078125e-07', ' 1.5 ', '-100']

  it('is read as a whole, wherever a piece ends', () => {
    const rest = Array.from({ length: 10_000 }, (_, k) => entries[k % entries.length]).join()
    for (let shift = 1; shift <= 64; shift++) expectSame(`${' '.repeat(shift)}1,${rest}`)
  })

  it('is read where an entry ends exactly at the end of a piece, or one byte beside it', () => {
    for (const beside of [-1, 0, 1]) {
      const one = '1,'.repeat(PIECE / 2 - 12) + '2'.padStart(23 + beside)
      expectSame(one)
      expectSame(`${one},3`)
      expect(read(`${one},`)).toBeUndefined()
      expect(read(`${one},,3`)).toBeUndefined()
    }
  })

  it('is refused where it is wrong in a later piece, and where an entry is longer than a piece', () => {
    const long = '1,'.repeat(PIECE)
    expect(read(`${long}x`)).toBeUndefined()
    expect(read(long)).toBeUndefined()
    for (let blanks = PIECE - 3; blanks < PIECE + 3; blanks++) {
      expect(read(`1${' '.repeat(blanks)}x,2`)).toBeUndefined()
      expectSameOrRefused(`1${' '.repeat(blanks)},2`)
    }
  })
})

it('an empty list is a list', () => expect(read('')).toEqual(new Float64Array()))

it('what was read stays as it is when the next list is read, and takes no more room than it needs', () => {
  const first = list('0.1,2,3')
  list('4,5,6')
  expect(first).toEqual(Float64Array.of(0.1, 2, 3))
  expect(first?.buffer.byteLength).toBe(24)
})

it('a list has the smallest type that gives back its numbers', () => {
  expect(list('1,-100,2147483647')).toEqual(Int32Array.of(1, -100, 2 ** 31 - 1))
  expect(list('2147483648,1')).toEqual(Float32Array.of(2 ** 31, 1))
  expect(list('-0')).toEqual(Float32Array.of(-0))
  expect(list('-0.10000000149011612,null')).toEqual(Float32Array.of(-0.1, Number.NaN))
  expect(list('16777217.5')).toEqual(Float64Array.of(16_777_217.5))
})
