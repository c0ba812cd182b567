/** Python's view of text: code points, Unicode white space, digits, letters and cases, as Python 3.11 has them. */
import { DIGIT_ZEROS, NEWER_LOWER, NEWER_THAN_UNICODE_14, NEWER_UPPER, TITLE_CASE_PAIRS } from './unicode.ts'

/** Classes `[…]` for regular expressions with the flag `v`: Python's `\s`, `\d` and `\w`, alone or within a class. */
export const PY_S = '[\\x09-\\x0d\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
export const PY_D = `[${DIGIT_ZEROS.split(' ').map(digitRange).join('')}]`
const NEWER_CLASS = `[${toClassRanges(NEWER_THAN_UNICODE_14)}]`
export const PY_W = `[[\\p{L}\\p{N}_]--${NEWER_CLASS}]`

const SPACE_PATTERN = new RegExp(PY_S, 'v')
const SPACES_PATTERN = new RegExp(`${PY_S}+`, 'v')
const LINE_ENDS = '[\\x0a-\\x0d\\x1c-\\x1e\\x85\\u2028\\u2029]'
const LINE_END_PATTERN = new RegExp(`\\r\\n|${LINE_ENDS}`, 'v')
const PLAIN_ENDS_PATTERN = /^[!-~](?:$|.*[!-~]$)/s
const ALL_SPACE_PATTERN = new RegExp(`^${PY_S}+$`, 'v')
const NEWER_LOWER_PATTERN = new RegExp(`([${toClassRanges(NEWER_LOWER)}])`, 'v')
const NEWER_UPPER_PATTERN = new RegExp(`([${toClassRanges(NEWER_UPPER)}])`, 'v')
const CASED_PATTERN = new RegExp(`[[\\p{Cased}\\u{295}]--[${NEWER_CLASS}\\u{10fc}\\u{a7f2}-\\u{a7f4}\\u{ab69}]]`, 'v')
const CASE_IGNORABLE_PATTERN = /\p{Case_Ignorable}/u
const OWN_TITLE_PATTERN = /[\p{Lt}\u{10d0}-\u{10fa}\u{10fd}-\u{10ff}]/u
const TITLE_CASES = new Map(TITLE_CASE_PAIRS.split(' ').map(parseTitlePair))

export function codePoints(s: string): string[] {
  return Array.from(s)
}

/** Code points, as Python counts. */
export function codePointLength(s: string): number {
  let pairs = 0
  for (let i = 0; i + 1 < s.length; i++) {
    if (isLeadSurrogate(s.charCodeAt(i)) && isTrailSurrogate(s.charCodeAt(i + 1))) {
      pairs++
      i++
    }
  }
  return s.length - pairs
}

/** `s.strip()`, or `s.strip(chars)`, where `chars` is a set of code points. */
export function strip(s: string, chars?: string): string {
  if (chars === undefined && PLAIN_ENDS_PATTERN.test(s)) return s
  return lstrip(rstrip(s, chars), chars)
}

export function lstrip(s: string, chars?: string): string {
  const strips = createStripPredicate(chars)
  let start = 0
  while (start < s.length) {
    const first = String.fromCodePoint(s.codePointAt(start) ?? 0)
    if (!strips(first)) break
    start += first.length
  }
  return s.slice(start)
}

export function rstrip(s: string, chars?: string): string {
  const strips = createStripPredicate(chars)
  let end = s.length
  while (end > 0) {
    const pair = end > 1 && isTrailSurrogate(s.charCodeAt(end - 1)) && isLeadSurrogate(s.charCodeAt(end - 2))
    const last = s.slice(end - (pair ? 2 : 1), end)
    if (!strips(last)) break
    end -= last.length
  }
  return s.slice(0, end)
}

/** `s.split()`: the words between runs of white space. */
export function splitWhitespace(s: string): string[] {
  return s.split(SPACES_PATTERN).filter((word) => word !== '')
}

export function splitlines(s: string): string[] {
  const lines = s.split(LINE_END_PATTERN)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

export function lower(s: string): string {
  if (!NEWER_LOWER_PATTERN.test(s)) return s.toLowerCase()
  return s
    .split(NEWER_LOWER_PATTERN)
    .map((part, i) => (i % 2 ? part : part.toLowerCase()))
    .join('')
}

export function upper(s: string): string {
  if (!NEWER_UPPER_PATTERN.test(s)) return s.toUpperCase()
  return s
    .split(NEWER_UPPER_PATTERN)
    .map((part, i) => (i % 2 ? part : part.toUpperCase()))
    .join('')
}

/** `s.title()`: a letter after no letter gets its title case, any other its lower case. */
export function title(s: string): string {
  const chars = codePoints(s)
  let inWord = false
  const out = chars.map((ch, i) => {
    const done = inWord ? lowerCharacterAt(chars, i) : titleCase(ch)
    inWord = CASED_PATTERN.test(ch)
    return done
  })
  return out.join('')
}

export function isSpace(s: string): boolean {
  return ALL_SPACE_PATTERN.test(s)
}

function createStripPredicate(chars: string | undefined): (ch: string) => boolean {
  if (chars === undefined) return (ch) => SPACE_PATTERN.test(ch)
  const set = new Set(chars)
  return (ch) => set.has(ch)
}

function titleCase(ch: string): string {
  const code = ch.codePointAt(0) ?? 0
  if (OWN_TITLE_PATTERN.test(ch)) return ch
  if (code >= 0x1f80 && code <= 0x1faf) return String.fromCodePoint(code | 8)
  return TITLE_CASES.get(ch) ?? upper(ch)
}

/** A capital sigma that ends a word has a lower case of its own. */
function lowerCharacterAt(chars: readonly string[], i: number): string {
  const ch = chars[i] ?? ''
  if (ch !== 'Σ') return lower(ch)
  return hasCasedNeighbor(chars, i, -1) && !hasCasedNeighbor(chars, i, 1) ? 'ς' : 'σ'
}

function hasCasedNeighbor(chars: readonly string[], i: number, step: 1 | -1): boolean {
  let k = i + step
  while (CASE_IGNORABLE_PATTERN.test(chars[k] ?? '')) k += step
  return CASED_PATTERN.test(chars[k] ?? '')
}

function isLeadSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function isTrailSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

function toClassRanges(ranges: string): string {
  return ranges.replaceAll(/[0-9a-f]+/g, '\\u{$&}').replaceAll(' ', '')
}

function digitRange(zero: string): string {
  return `\\u{${zero}}-\\u{${(Number.parseInt(zero, 16) + 9).toString(16)}}`
}

function parseTitlePair(pair: string): [string, string] {
  const [from = '', to = ''] = pair.split(':')
  return [fromHexCodePoints(from), to.split('+').map(fromHexCodePoints).join('')]
}

function fromHexCodePoints(code: string): string {
  return String.fromCodePoint(Number.parseInt(code, 16))
}
