/** Mutants: answers that are almost right, or wrong in every way that a parser can be. */
import { GARBAGE_ANSWERS, SIGNS } from './hostile-answers.ts'

const CONFUSABLE_CHARACTERS = SIGNS.confusables
const CODE_POINT_TRAPS = SIGNS.codePointTraps
const NON_ASCII_ZEROS = [...SIGNS.zeros]

const EDITS: ((text: string, other: string) => string)[] = [
  (s) => s.slice(0, s.length / 2),
  (s) => s + s,
  (s) => ` ${s}\n`,
  (s) => `-${s}`,
  (s) => `+${s}`,
  (s) => s.toUpperCase(),
  (s) => s.toLowerCase(),
  (s) => s.replaceAll(' ', '  '),
  (s) => s.replaceAll(' ', ''),
  (s) => s.replaceAll(' ', '\u00a0'),
  (s) => s.replaceAll('\n', ' \n'),
  (s) => s.replaceAll('\n', '\r\n'),
  (s) => `(${s.replaceAll(' ', '\r')})`,
  (s) => `(${s}\n!)`,
  (s) => s.replaceAll(',', ', '),
  (s) => s.replaceAll(', ', ','),
  (s) => [...s].reverse().join(''),
  (s) => `${s}.0`,
  (s) => `${s}.`,
  (s) => `The answer is ${s}`,
  (s) => `[${s}]`,
  (s) => `"${s}"`,
  (s) => `<answer>${s}</answer>`,
  (s) => s.replaceAll('1', '１'),
  (s) => s.replace('1', '2'),
  (s) => s.replace('0', '1'),
  (s) => s.replaceAll("'", '"'),
  (s) => s.replaceAll('"', "'"),
  (s) => s.replaceAll('-', '−'),
  (s) => s.replaceAll('0', '0.0'),
  (s) => s.replace(/[()]/g, ''),
  (s) => `0${s}`,
  (s) => `${s}e0`,
  (s) => s.replaceAll('3', '3_0'),
  (s) => `\\boxed{${s}}`,
  (_, other) => other,
  (s, other) => s + other,
  (s, other) => `${s}\n${other}`,
]

const WIDENABLE_PATTERN = /[!-/:-@[-`{-~]/g

/** An answer with signs of another writing in places where they could pass for what was there, or for nothing. */
function insertConfusables(text: string, pick: <T>(list: readonly T[]) => T, random: () => number): string {
  const sign = pick(CONFUSABLE_CHARACTERS)
  const zero = pick(NON_ASCII_ZEROS).codePointAt(0) ?? 0
  const at = Math.floor(random() * (text.length + 1))
  const shapes: (() => string)[] = [
    () => text.slice(0, at) + sign + text.slice(at),
    () => text.slice(0, at) + sign + text.slice(at),
    () => text + sign,
    () => sign + text,
    () => `${sign}${text}${sign}`,
    () => text.replaceAll(' ', sign),
    () => text.replaceAll('\n', sign),
    () => text.replaceAll(/(?<=[-+*/,:;)\]}])/g, sign),
    () => text.replaceAll(/(?=[-+*/,:;([{)\]}])/g, sign),
    () => text.replaceAll(/\b/g, sign),
    () => text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit))),
    () => text.replace(/\d/, (digit) => String.fromCodePoint(zero + Number(digit))),
    () => text.replace(WIDENABLE_PATTERN, (mark) => String.fromCodePoint(mark.charCodeAt(0) + 0xfee0)),
    () => text.replace(/[a-z]/gi, (letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)),
    () => `(${text} !${sign})`,
    () => `(${text}${sign}!)`,
    () => `(${text}${sign})`,
    () => `[${sign}${text}${sign}]`,
    () => `"${text}"${sign}`,
    () => `"${sign}${text}"`,
    () => text.normalize('NFD'),
  ]
  return pick(shapes)()
}

/** An answer with such characters within it, around it, in place of its own, or turned around them. */
function insertCodePointTraps(text: string, pick: <T>(list: readonly T[]) => T, random: () => number): string {
  const trap = pick(CODE_POINT_TRAPS)
  const other = pick(CODE_POINT_TRAPS)
  const chars = [...text]
  const at = Math.floor(random() * (chars.length + 1))
  const around = (middle: string) => chars.slice(0, at).join('') + middle + chars.slice(at).join('')
  const shapes: (() => string)[] = [
    () => around(trap),
    () => around(trap + other),
    () => chars.with(Math.min(at, chars.length - 1), trap).join(''),
    () => trap + text + trap,
    () => trap + chars.toReversed().join('') + trap,
    () => text + trap.repeat(1 + Math.floor(random() * 4)),
    () => text.replaceAll(pick(chars), trap),
    () => text.replaceAll(/\d/g, trap),
    () => text.replaceAll(/\s/g, trap),
    () => text.replaceAll(/[a-z]/gi, (letter) => (random() < 0.3 ? trap : letter)),
    () =>
      chars
        .map((ch) => String.fromCodePoint((ch.codePointAt(0) ?? 0) + (/[a-z]/i.test(ch) ? 0x1d400 - 0x41 : 0)))
        .join(''),
    () => trap,
    () => trap + other + trap,
    () => `${trap} ${other}`,
    () => [trap, other, trap].join(', '),
  ]
  return chars.length === 0 ? trap : pick(shapes)()
}

const ALPHABET = [...'0123456789abcXYZ .,-+*/()[]{}\n\'"']

/** `count` answers: the right one, then edits of it, then garbage. `other` is the right answer of another item. */
export function generateMutants(right: string, other: string, count: number, random: () => number): string[] {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T // lists are not empty
  const tweak = (text: string) => {
    const at = Math.floor(random() * (text.length + 1))
    return pick([
      text.slice(0, at) + text.slice(at + 1),
      text.slice(0, at) + pick(ALPHABET) + text.slice(at),
      text.slice(0, at) + pick(ALPHABET) + text.slice(at + 1),
    ])
  }
  const answers = [right]
  while (answers.length < count) {
    const kind = random()
    if (kind < 0.25) answers.push(pick(EDITS)(right, other))
    else if (kind < 0.5) answers.push(insertConfusables(right, pick, random))
    else if (kind < 0.53) answers.push(insertConfusables(insertConfusables(right, pick, random), pick, random))
    else if (kind < 0.65) answers.push(insertCodePointTraps(right, pick, random))
    else if (kind < 0.68) answers.push(insertCodePointTraps(insertCodePointTraps(right, pick, random), pick, random))
    else if (kind < 0.76) answers.push(tweak(right))
    else if (kind < 0.85) answers.push(tweak(tweak(pick(EDITS)(right, other))))
    else answers.push(pick(GARBAGE_ANSWERS))
  }
  return answers
}
