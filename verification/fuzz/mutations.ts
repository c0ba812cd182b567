/** What is done to an honest answer: cut, doubled, nested, dressed up in other characters, blown up to huge numbers. */

type Mutation = (text: string) => string

const getMiddle = (text: string) => Math.floor(text.length / 2)
const insertInMiddle =
  (what: string): Mutation =>
  (text) =>
    text.slice(0, getMiddle(text)) + what + text.slice(getMiddle(text))

export const MUTATIONS: Record<string, Mutation> = {
  'as it was': (text) => text,
  'cut in the middle': (text) => text.slice(0, getMiddle(text)),
  'cut at the front': (text) => text.slice(getMiddle(text)),
  'without its last character': (text) => text.slice(0, -1),
  doubled: (text) => text + text,
  'a thousand times': (text) => text.repeat(Math.min(1000, Math.ceil(60_000 / (text.length + 1)))),
  'in a list': (text) => `[${text}]`,
  'in a thousand lists': (text) => '['.repeat(1000) + text + ']'.repeat(1000),
  'in a thousand brackets': (text) => '('.repeat(1000) + text + ')'.repeat(1000),
  'in a thousand objects': (text) => `${'{"a":'.repeat(1000)}${JSON.stringify(text)}${'}'.repeat(1000)}`,
  'in tags': (text) => `<answer><answer>${text}</answer></answer>`,
  'in quotes': (text) => JSON.stringify(JSON.stringify(text)),
  'in wide characters': (text) => text.replace(/[!-~]/g, (sign) => String.fromCodePoint(sign.charCodeAt(0) + 0xfee0)),
  'with Arabic digits': (text) => text.replace(/\d/g, (digit) => String.fromCodePoint(0x0660 + Number(digit))),
  'with a null, a lone surrogate and a mark': insertInMiddle('\u0000\ud800\u0301\u202e'),
  'with emoji': insertInMiddle('👩‍👩‍👧‍👦🧮'),
  'with a number of a thousand digits': (text) => text.replace(/\d+/g, '9'.repeat(1000)) || '9'.repeat(1000),
  'with a number of ten thousand digits': insertInMiddle('9'.repeat(10_000)),
  'with a huge exponent': (text) => `${text}e999999999`,
  'with a tower of powers': (text) => `${text}**9**9**9**9`,
  'with infinity and none': (text) => text.replace(/\d+/g, 'inf').concat(' nan -inf'),
  'with a format string': insertInMiddle('%s%n{0.__class__}{}'),
  'with its words turned round': (text) => text.split(/\s+/).toReversed().join(' '),
  'with its lines ended three ways': (text) => text.replaceAll('\n', '\r\n\u2028'),
}
