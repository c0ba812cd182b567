/** Python's view of text: code points, Unicode white space, digits, letters and cases, as Python 3.11 has them. */

// What Python 3.11 knows of Unicode 14.0 where Node, with a newer Unicode, would say otherwise; hexadecimal code points.

/** First digits of the runs of ten that `\d`, `int()` and `float()` take. */
export const DIGIT_ZEROS =
  '30 660 6f0 7c0 966 9e6 a66 ae6 b66 be6 c66 ce6 d66 de6 e50 ed0 f20 1040 1090 17e0 1810 1946 19d0 1a80 1a90 ' +
  '1b50 1bb0 1c40 1c50 a620 a8d0 a900 a9d0 a9f0 aa50 abf0 ff10 104a0 10d30 11066 110f0 11136 111d0 112f0 11450 ' +
  '114d0 11650 116c0 11730 118e0 11950 11c50 11d50 11da0 16a60 16ac0 16b50 1d7ce 1d7d8 1d7e2 1d7ec 1d7f6 1e140 ' +
  '1e2f0 1e950 1fbf0'

/** Letters and numbers that came after Unicode 14.0. */
export const NEWER_THAN_UNICODE_14 =
  '88f c5c cdc 1c89-1c8a a7cb-a7cf a7d2 a7d4 a7da-a7dc a7f1 105c0-105f3 10940-10959 10d40-10d65 10d6f-10d85 ' +
  '10ec2-10ec7 1123f-11240 11380-11389 1138b 1138e 11390-113b5 113b7 113d1 113d3 116d0-116e3 11bc0-11be0 ' +
  '11bf0-11bf9 11db0-11ddb 11de0-11de9 11f02 11f04-11f10 11f12-11f33 11f50-11f59 1342f 13441-13446 13460-143fa ' +
  '16100-1611d 16130-16139 16d40-16d6c 16d70-16d79 16ea0-16eb8 16ebb-16ed3 16ff2-16ff6 187f8-187ff 18cff ' +
  '18d09-18d1e 18d80-18df2 1b132 1b155 1ccf0-1ccf9 1d2c0-1d2d3 1df25-1df2a 1e030-1e06d 1e4d0-1e4eb 1e4f0-1e4f9 ' +
  '1e5d0-1e5ed 1e5f0-1e5fa 1e6c0-1e6de 1e6e0-1e6e2 1e6e4-1e6e5 1e6e7-1e6ed 1e6f0-1e6f4 1e6fe-1e6ff 2b739-2b73f ' +
  '2cea2-2cead 2ebf0-2ee5d 31350-33479'

/** Letters whose lower case came after 14.0. */
export const NEWER_LOWER = '1c89 a7cb-a7cc a7ce a7d2 a7d4 a7da a7dc 10d50-10d65 16ea0-16eb8'

/** Letters whose upper case came after 14.0. */
export const NEWER_UPPER = '19b 264 1c8a a7cd a7cf a7d3 a7d5 a7db 10d70-10d85 16ebb-16ed3'

/** Title cases that are neither the upper case nor the letter itself: `from:to+to`. */
export const TITLE_CASE_PAIRS =
  'df:53+73 1c4:1c5 1c6:1c5 1c7:1c8 1c9:1c8 1ca:1cb 1cc:1cb 1f1:1f2 1f3:1f2 587:535+582 1fb2:1fba+345 1fb3:1fbc ' +
  '1fb4:386+345 1fb7:391+342+345 1fc2:1fca+345 1fc3:1fcc 1fc4:389+345 1fc7:397+342+345 1ff2:1ffa+345 1ff3:1ffc ' +
  '1ff4:38f+345 1ff7:3a9+342+345 fb00:46+66 fb01:46+69 fb02:46+6c fb03:46+66+69 fb04:46+66+6c fb05:53+74 ' +
  'fb06:53+74 fb13:544+576 fb14:544+565 fb15:544+56b fb16:54e+576 fb17:544+56d'

/** Classes `[…]` for regular expressions with the flag `v`: Python's `\s`, `\d` and `\w`, alone or within a class. */
export const PY_S = '[\\x09-\\x0d\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
export const PY_D = `[${DIGIT_ZEROS.split(' ').map(digitRange).join('')}]`
const NEWER_CLASS = `[${toClassRanges(NEWER_THAN_UNICODE_14)}]`
export const PY_W = `[[\\p{L}\\p{N}_]--${NEWER_CLASS}]`

const SPACE_PATTERN = new RegExp(PY_S, 'v')
const SPACES_PATTERN = new RegExp(`${PY_S}+`, 'v')
const LINE_ENDS = '[\\x0a-\\x0d\\x1c-\\x1e\\x85\\u2028\\u2029]'
const LINE_END_PATTERN = new RegExp(`\\r\\n|${LINE_ENDS}`, 'v')
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
  if (chars === undefined && isVisibleAscii(s.charCodeAt(0)) && isVisibleAscii(s.charCodeAt(s.length - 1))) return s
  return lstrip(rstrip(s, chars), chars)
}

function isVisibleAscii(code: number): boolean {
  return code > 0x20 && code < 0x7f
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
