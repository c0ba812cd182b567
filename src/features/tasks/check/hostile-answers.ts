/**
 * Answers that a scorer must survive: hostile ones, which would run, hang, fill memory or break something if they were
 * read the way the library reads them, and mutants, which are almost right or wrong in every way that a parser can be.
 */

export interface Exploit {
  name: string
  text: string
}

/** `marker`: a path that code would create; `port`: one on which a socket of it would be seen. */
export function buildExploits(marker: string, port: number): Exploit[] {
  const deed = `__import__('os').system('touch ${marker}')`
  const call = `__import__('socket').create_connection(('127.0.0.1', ${port}))`
  const named: Record<string, string> = {
    'code: a process': deed,
    'code: a process in a list': `[${deed}]`,
    'code: a process in a matrix': `[[${deed}]]`,
    'code: a process in a formula': `2*x + ${deed}`,
    'code: a socket': call,
    'code: a socket in a list': `[${call}]`,
    'code: a file': `open('${marker}', 'w').write('x')`,
    'code: a file in a list': `[open('${marker}', 'w')]`,
    'code: through attributes': `().__class__.__mro__[1].__subclasses__()[40]('${marker}', 'w')`,
    'code: through a lambda': `(lambda: ${deed})()`,
    'code: through a comprehension': `[${deed} for _ in [0]]`,
    'code: through a format string': `f"{${deed}}"`,
    'code: through a walrus': `(x := ${deed})`,
    'code: through exec': `exec("import os; os.system('touch ${marker}')")`,
    'code: through eval': `eval("__import__('os').system('touch ${marker}')")`,
    'code: through compile': `compile("open('${marker}','w')", 'x', 'exec')`,
    'code: through globals': `globals()['__builtins__']['open']('${marker}', 'w')`,
    'code: through getattr': `getattr(__import__('os'), 'system')('touch ${marker}')`,
    'code: in sympy names': `Symbol('x').__class__.__init__.__globals__['__builtins__']['open']('${marker}','w')`,
    'code: sympify': `sympify("__import__('os').system('touch ${marker}')")`,
    'code: lambdify': `lambdify(x, "__import__('os').system('touch ${marker}')")(1)`,
    'code: S of a text': `S("open('${marker}','w')")`,
    'code: in a quoted answer': `"__import__('os').system('touch ${marker}')"`,
    'code: a pickle': `cos\nsystem\n(S'touch ${marker}'\ntR.`,
    'code: yaml': `!!python/object/apply:os.system ["touch ${marker}"]`,
    'code: a template': `{{ ''.__class__ }} \${7*7} <%= 7*7 %>`,
    'code: a shell': `$(touch ${marker}) \`touch ${marker}\` ; touch ${marker} | touch ${marker}`,
    'code: javascript': `process.mainModule.require('fs').writeFileSync('${marker}', 'x')`,
    'code: javascript constructor': `constructor.constructor("return process")().exit()`,
    'code: a prototype': '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}',
    'code: import': `import os\nos.system('touch ${marker}')`,
    'code: breakpoint': 'breakpoint()',
    'code: exit': 'exit()',
    'code: quit in a list': '[quit()]',
    'code: input': 'input()',
    'a tower of powers': '9**9**9**9',
    'a tower of powers in a list': '[9**9**9]',
    'a tower of powers with ^': '9^9^9^9',
    'a large power of x': '(x+y+z)**100000',
    'a power of a sum': '(x+1)**20000*(y+1)**20000',
    'a factorial': '99999999!',
    'a factorial of a factorial': '99999!!!!',
    'factorial()': 'factorial(99999999)',
    'a large product of lists': '[0]*9999999999',
    'products of lists of lists': '[[0]*99999]*99999',
    'a long text by product': "'a'*9999999999",
    'a large shift': '1<<9999999999',
    'a range': 'list(range(10**10))',
    'simplification without end': ['x', 'X']
      .map((v) => `(sin(${v})+cos(${v})+tan(${v})+${v}**2)**9/(exp(${v})+log(${v})+${v}**7)**9`)
      .join('+'),
    'an exponential of exponentials': 'exp(exp(exp(exp(9999))))',
    'nested roots': `${'sqrt('.repeat(40)}x${')'.repeat(40)}`,
    'a large float': '1e100000000',
    'a small float': '1e-100000000',
    infinity: 'inf',
    nan: 'nan',
    'minus infinity': '-inf',
    'car moves': 'A+1000000000000',
    'cube turns': 'R1000000000',
    'cube turns without end': "R99999999999999999999 U'9999999999",
    'many variables': [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].join(' ∧ '),
    'many negations': `${'¬'.repeat(5000)}P`,
    'nested implications': `${'(P → '.repeat(2000)}Q${')'.repeat(2000)}`,
    'huge dates': '99999999999-99-99 99:99:99.999',
    'huge days': `${'9'.repeat(400)} days, 00:00:00`,
    'nested brackets': `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    'nested round brackets': `${'('.repeat(20_000)}1${')'.repeat(20_000)}`,
    'nested objects': `${'{"a":'.repeat(8000)}1${'}'.repeat(8000)}`,
    'unclosed brackets': '['.repeat(60_000),
    'nested boxes': `${'\\boxed{'.repeat(5000)}1${'}'.repeat(5000)}`,
    'many digits': '9'.repeat(60_000),
    'a long decimal': `0.${'7'.repeat(60_000)}`,
    'a long fraction': `${'7'.repeat(30_000)}/${'3'.repeat(30_000)}`,
    'a long hexadecimal': `0x${'f'.repeat(60_000)}`,
    'many minus signs': `${'-'.repeat(60_000)}1`,
    'many spaces': `${' '.repeat(60_000)}x`,
    'many lines': '\n'.repeat(60_000),
    'many commas': ','.repeat(60_000),
    'many words': 'a '.repeat(30_000),
    'many sums': `${'1+'.repeat(30_000)}1`,
    'many products': `${'2*'.repeat(30_000)}2`,
    'many quotes': '"'.repeat(60_000),
    'many backslashes': '\\'.repeat(60_000),
    'many keys': `{${Array.from({ length: 5000 }, (_, k) => `"k${k}": ${k}`).join(', ')}}`,
    'equal keys': `{${'"a": 1, '.repeat(7000)}"a": 1}`,
    'many moves': 'U'.repeat(60_000),
    'many positions': 'A→B→'.repeat(10_000),
    'nothing in JSON': 'null',
    'an empty object': '{}',
    'an empty list': '[]',
    'lists of nothing': '[null, [null], {}]',
    'an object for a list': '{"0": 1}',
    'numbers of the wrong kind': '[NaN, Infinity, -Infinity, 1e999]',
    'a null byte': 'a\0b',
    'control characters': '\u0001\u0002\u001b[2J\u0007',
    'a lone surrogate': 'a\ud800b',
    'right to left': '\u202e321\u202c',
    'combining marks': `e${'\u0301'.repeat(20_000)}`,
    emoji: '👩‍👩‍👧‍👦'.repeat(2000),
    'digits of other scripts': '٣٤٥१२३',
    'a letter that grows': 'İ'.repeat(20_000),
    'a ligature': 'ﬃ'.repeat(20_000),
    'a byte order mark': '\ufeff1',
    markup: '<script>alert(1)</script>',
    'tags in tags': '<answer><answer>1</answer></answer>',
    'a query': "1'; DROP TABLE runs; --",
    'a redis command': '*1\r\n$8\r\nFLUSHALL\r\n',
    'a path': '../../../../etc/passwd',
    'a format': '%s%n%x{0.__class__}',
  }
  return Object.entries(named).map(([name, text]) => ({ name, text }))
}

const GARBAGE_ANSWERS = [
  '',
  'a',
  '0',
  '1',
  '-1',
  '1.0',
  'True',
  'true',
  'None',
  'null',
  'nan',
  'inf',
  '-inf',
  '[]',
  '{}',
  '()',
  '[[]]',
  '[1,2',
  '[1, 2, 3]',
  '{"a": NaN}',
  '{"a":1,"a":2}',
  '1e2',
  '1_0',
  '+1',
  ' 1 ',
  '٣',
  '１２',
  '1/2',
  '½',
  'x',
  'x+1',
  '\n',
  '\t \n',
  ' \u00a0\u2003x',
  'é',
  '😀',
  '()()',
  '1 2 3',
  '1,2,3',
  '\u0130',
  'ß',
  '0x10',
  '1e300',
  '9'.repeat(30),
  '-0',
  '--1',
  '1 2\n3 4',
  "'a'",
  '"a"',
  '\\frac{1}{2}',
  '$1$',
  '1\0',
  '1.5.2',
  '1,000',
  '[[1,2],[3,4]]',
  "['a','b']",
  '(1,2)',
  '1\u001c2',
  '1\u20282',
  `${'['.repeat(60)}${']'.repeat(60)}`,
  '9'.repeat(400),
  '{"A": "B"}',
  '[null]',
  '[{"a": 1}]',
  '1e100000',
]

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

/** Signs that some readers take for blanks, line ends, nothing, digits or operators, and others do not. */
const CONFUSABLE_CHARACTERS = [
  '\r',
  '\r\n',
  '\f',
  '\v',
  '\t',
  '\0',
  '\b',
  '\x1a',
  '\x1c',
  '\x1d',
  '\x1e',
  '\x1f',
  '\x7f',
  '\x85',
  '\xa0',
  '\xad',
  '\u1680',
  '\u180e',
  '\u2003',
  '\u200b',
  '\u200c',
  '\u200d',
  '\u200e',
  '\u2028',
  '\u2029',
  '\u202e',
  '\u202f',
  '\u205f',
  '\u2060',
  '\u3000',
  '\u3164',
  '\ufeff',
  '\u0301',
  '\ufe0f',
  '\\\n',
  '\\\r',
  '٣',
  '३',
  '７',
  '𝟕',
  '²',
  '⅐',
  '߁',
  '＋',
  '−',
  '×',
  '÷',
  '＊',
  '（',
  '）',
  '，',
  '：',
  'ſ',
  'ı',
  'K',
  'ﬁ',
]
/** What counts, cuts, turns and folds differently in code points and in UTF-16 units, or in one Unicode version and another. */
const CODE_POINT_TRAPS = [
  '😀',
  '𝐀',
  '𝐱',
  '𐐀',
  '𐐨',
  '𠮷',
  '👨‍👩‍👧',
  '🇩🇪',
  '\u{10ffff}',
  '\ud83d',
  '\ude00',
  '\ude00\ud83d',
  '\ud800a',
  '\udfff',
  'é',
  'e\u0301',
  'ß',
  'ẞ',
  'İ',
  'ı',
  'ŉ',
  'ǆ',
  'ǅ',
  'Σ',
  'ς',
  'ΑΣ',
  'ﬃ',
  'ΐ',
  'ᾳ',
  'ₐ',
  'ª',
  'Ⅷ',
  'ⓐ',
  'ꭰ',
  'Ა',
  'ა',
  '𞤀',
  '𝟎',
  '𝟙',
  '٤',
  '᧚',
  '①',
  '⑴',
  '²',
  '¾',
  '万',
  '〇',
  '𐄇',
  '𑁒',
  '🯰',
  '𞥐',
  '༳',
  'Ⅻ',
  '᠀',
  '\u00a0',
  '\u2007',
  '\u200b',
  '\ufeff',
  '\u180e',
  '\u3000',
  '\x1c',
  '\x1d',
  '\x1e',
  '\x1f',
  '\x85',
  '\u2028',
  '\u2060',
  '\u00ad',
]
const NON_ASCII_ZEROS = [...'０٠०𝟎𝟘߀']
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

/** mulberry32: small, seeded, the same everywhere. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
