/** Python's view of text: code points, Unicode white space, digits, letters and cases, as Python 3.11 has them. */
import { NEWER, NEWER_LOWER, NEWER_UPPER, TITLES, ZEROS } from './unicode.ts'

/** Classes `[…]` for regular expressions with the flag `v`: Python's `\s`, `\d` and `\w`, alone or within a class. */
export const PY_S = '[\\x09-\\x0d\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
export const PY_D = `[${ZEROS.split(' ').map(tenFrom).join('')}]`
const newer = `[${classOf(NEWER)}]`
export const PY_W = `[[\\p{L}\\p{N}_]--${newer}]`

const space = new RegExp(PY_S, 'v')
const spaces = new RegExp(`${PY_S}+`, 'v')
const LINE_ENDS = '[\\x0a-\\x0d\\x1c-\\x1e\\x85\\u2028\\u2029]'
const lineEnd = new RegExp(`\\r\\n|${LINE_ENDS}`, 'v')
const plainEnds = /^[!-~](?:$|.*[!-~]$)/s
const allSpace = new RegExp(`^${PY_S}+$`, 'v')
const newerLower = new RegExp(`([${classOf(NEWER_LOWER)}])`, 'v')
const newerUpper = new RegExp(`([${classOf(NEWER_UPPER)}])`, 'v')
const cased = new RegExp(`[[\\p{Cased}\\u{295}]--[${newer}\\u{10fc}\\u{a7f2}-\\u{a7f4}\\u{ab69}]]`, 'v')
const ignorable = /\p{Case_Ignorable}/u
const ownTitle = /[\p{Lt}\u{10d0}-\u{10fa}\u{10fd}-\u{10ff}]/u
const titles = new Map(TITLES.split(' ').map(titleOf))

export function codePoints(s: string): string[] {
  return Array.from(s)
}

/** Code points, as Python counts. */
export function length(s: string): number {
  let pairs = 0
  for (let i = 0; i + 1 < s.length; i++) {
    if (isLead(s.charCodeAt(i)) && isTrail(s.charCodeAt(i + 1))) {
      pairs++
      i++
    }
  }
  return s.length - pairs
}

/** `s.strip()`, or `s.strip(chars)`, where `chars` is a set of code points. */
export function strip(s: string, chars?: string): string {
  if (chars === undefined && plainEnds.test(s)) return s
  return lstrip(rstrip(s, chars), chars)
}

export function lstrip(s: string, chars?: string): string {
  const strips = stripped(chars)
  let start = 0
  while (start < s.length) {
    const first = String.fromCodePoint(s.codePointAt(start) ?? 0)
    if (!strips(first)) break
    start += first.length
  }
  return s.slice(start)
}

export function rstrip(s: string, chars?: string): string {
  const strips = stripped(chars)
  let end = s.length
  while (end > 0) {
    const pair = end > 1 && isTrail(s.charCodeAt(end - 1)) && isLead(s.charCodeAt(end - 2))
    const last = s.slice(end - (pair ? 2 : 1), end)
    if (!strips(last)) break
    end -= last.length
  }
  return s.slice(0, end)
}

/** `s.split()`: the words between runs of white space. */
export function split(s: string): string[] {
  return s.split(spaces).filter((word) => word !== '')
}

export function splitlines(s: string): string[] {
  const lines = s.split(lineEnd)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

export function lower(s: string): string {
  if (!newerLower.test(s)) return s.toLowerCase()
  return s
    .split(newerLower)
    .map((part, i) => (i % 2 ? part : part.toLowerCase()))
    .join('')
}

export function upper(s: string): string {
  if (!newerUpper.test(s)) return s.toUpperCase()
  return s
    .split(newerUpper)
    .map((part, i) => (i % 2 ? part : part.toUpperCase()))
    .join('')
}

/** `s.title()`: a letter after no letter gets its title case, any other its lower case. */
export function title(s: string): string {
  const chars = codePoints(s)
  let inWord = false
  const out = chars.map((ch, i) => {
    const done = inWord ? lowerAt(chars, i) : titleCase(ch)
    inWord = cased.test(ch)
    return done
  })
  return out.join('')
}

export function isSpace(s: string): boolean {
  return allSpace.test(s)
}

function stripped(chars: string | undefined): (ch: string) => boolean {
  if (chars === undefined) return (ch) => space.test(ch)
  const set = new Set(chars)
  return (ch) => set.has(ch)
}

function titleCase(ch: string): string {
  const code = ch.codePointAt(0) ?? 0
  if (ownTitle.test(ch)) return ch
  if (code >= 0x1f80 && code <= 0x1faf) return String.fromCodePoint(code | 8)
  return titles.get(ch) ?? upper(ch)
}

/** A capital sigma that ends a word has a lower case of its own. */
function lowerAt(chars: readonly string[], i: number): string {
  const ch = chars[i] ?? ''
  if (ch !== 'Σ') return lower(ch)
  return beside(chars, i, -1) && !beside(chars, i, 1) ? 'ς' : 'σ'
}

function beside(chars: readonly string[], i: number, step: 1 | -1): boolean {
  let k = i + step
  while (ignorable.test(chars[k] ?? '')) k += step
  return cased.test(chars[k] ?? '')
}

function isLead(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function isTrail(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

function classOf(ranges: string): string {
  return ranges.replaceAll(/[0-9a-f]+/g, '\\u{$&}').replaceAll(' ', '')
}

function tenFrom(zero: string): string {
  return `\\u{${zero}}-\\u{${(Number.parseInt(zero, 16) + 9).toString(16)}}`
}

function titleOf(pair: string): [string, string] {
  const [from = '', to = ''] = pair.split(':')
  return [fromHex(from), to.split('+').map(fromHex).join('')]
}

function fromHex(code: string): string {
  return String.fromCodePoint(Number.parseInt(code, 16))
}
