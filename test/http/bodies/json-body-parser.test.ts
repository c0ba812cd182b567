import { ServiceError } from '@reasoning-gym-server/contract/errors'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonBytes } from '../../../src/http/bodies/json-body-parser.ts'

const read = (text: string) => parseJsonBytes(Buffer.from(text))
const faultOf = (text: string) => {
  try {
    read(text)
    return 'read'
  } catch (error) {
    return error instanceof ServiceError ? error.code : error
  }
}
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

const ESCAPED_KEY = /"(?:[^"\\]|\\.)*\\.(?:[^"\\]|\\.)*":/

describe('a JSON body', () => {
  it('is read as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 1), (value, space) => {
        const text = JSON.stringify(value)
        // JSON.parse of V8 can read an escaped key as another one that it has seen: https://github.com/nodejs/node/issues/63785
        fc.pre(value !== null && !text.includes('__proto__') && !ESCAPED_KEY.test(text))
        expect(read(JSON.stringify(value, null, space))).toEqual(JSON.parse(text))
      }),
    )
  })

  it('may be nested 64 deep, and no deeper', () => {
    expect(read(nested(64))).toBeDefined()
    expect(faultOf(nested(65))).toBe('invalid_json')
    expect(faultOf(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)).toBe('invalid_json')
    expect(faultOf('['.repeat(20_000_000))).toBe('invalid_json')
    expect(faultOf(nested(20_000))).toBe('invalid_json')
    expect(read(`[${Array(100).fill(nested(60)).join()}]`)).toHaveLength(100)
  })

  it('may say anything in its strings', () => {
    for (const text of ['['.repeat(1000), ','.repeat(2_000_000), '"]}', '\\', '\\"[[', '"__proto__":', '☃️"[']) {
      expect(read(JSON.stringify({ [text]: text }))).toEqual({ [text]: text })
    }
  })

  it('has a million entries in one array at most', () => {
    expect(read(`[${Array(1_000_000).fill(0).join()}]`)).toHaveLength(1_000_000)
    expect(faultOf(`[${Array(1_000_001).fill(0).join()}]`)).toBe('invalid_json')
  })

  it('has a million arrays and objects at most, wherever they are', () => {
    const halves = (count: number) =>
      `[${Array(2)
        .fill(`[${Array(count).fill('{}').join()}]`)
        .join()}]`
    expect(read(halves(499_998))).toHaveLength(2)
    expect(faultOf(halves(500_000))).toBe('invalid_json')
    expect(() => read(halves(500_000))).toThrow('more than the limit of 1000000 arrays and objects')
  })

  it.each([
    '{"__proto__":{"admin":true}}',
    '{"a":[{"__proto__":1}]}',
    '{"\\u005f_proto__":1}',
    '{"constructor":{"prototype":{"admin":true}}}',
    '{"extra":{"constructor":{"prototype":1}}}',
  ])('%s could reach a prototype and is rejected', (text) => {
    expect(faultOf(text)).toBe('invalid_json')
    expect(faultOf(`[${text},"${' '.repeat(100_000)}"]`)).toBe('invalid_json')
    expect(faultOf(`\ufeff${text}`)).toBe('invalid_json')
    expect(() => read(text)).toThrow('`__proto__`, or `prototype` inside `constructor`')
    expect('admin' in {}).toBe(false)
  })

  it.each(['{"constructor":"Ada"}', '{"prototype":{"constructor":{}}}', '{"constructor":[{"a":"__proto__"}]}'])(
    '%s reaches none and is read',
    (text) => {
      expect(read(text)).toEqual(JSON.parse(text))
      expect(read(`\ufeff${text}`)).toEqual(JSON.parse(text))
    },
  )

  it.each(['{', '[1,]', '{"a":NaN}', '"a', 'nul', '[1]]', '}', '\u0000', '{"a":1}{"b":2}', "{'a':1}"])(
    '%j is none',
    (text) => expect(faultOf(text)).toBe('invalid_json'),
  )

  it('that is null is none, but an object is wanted', () => expect(faultOf(' null ')).toBe('invalid_request'))

  it('that is broken is refused with its code, whatever is broken in it', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string(), (json, at, text) => {
        const cut = at % (json.length + 1)
        expect(['read', 'invalid_json', 'invalid_request']).toContain(
          faultOf(json.slice(0, cut) + text + json.slice(cut)),
        )
      }),
    )
  })
})
