/** Answers made to take long: large ones of every form that a scorer reads, about `size` characters each. */

interface ExpensiveAnswer {
  name: string
  text: string
}

/** What a scorer might read part by part; each is repeated up to the size. */
const REPEATED_UNITS: Record<string, string> = {
  digits: '9',
  zeros: '0',
  spaces: ' ',
  'no-break spaces': '\u00a0',
  lines: '\n',
  'lines of digits': '1 2 3\n',
  'lines with spaces at their ends': '1 2 3   \n',
  commas: ',',
  words: 'ab ',
  'one word': 'a',
  'listed words': 'ab, ',
  'listed numbers': '1, ',
  floats: '1.5 ',
  exponents: '1e9 ',
  signs: '-',
  plus: '1+',
  times: '1*',
  powers: '2**',
  minus: '1 - ',
  factorials: '9!',
  dots: '.',
  underscores: '1_0_',
  quotes: '"',
  'listed texts': '"a", ',
  'single quotes': "'a', ",
  'escaped quotes': '\\"',
  backslashes: '\\',
  dollars: '$',
  boxed: '\\boxed{',
  'text commands': '\\text{a}',
  fractions: '\\frac{1}{2}',
  tags: '<answer>',
  not: '¬',
  and: 'P ∧ ',
  implies: '(P → ',
  'variables joined': 'P ∧ Q ∨ R → S ↔ ',
  'cube moves': "R U R' ",
  'cube turns': 'R9',
  'car moves': 'A+1 B-1 ',
  'jug moves': '"fill A", "pour A->B", ',
  'disk moves': 'Move disk 1 from Peg 1 to Peg 2\n',
  positions: 'ULDR',
  'positions with commas': 'A→B→C→',
  emoji: '😀',
  'combining marks': 'e\u0301',
  'dotted i': 'İ',
  'arabic digits': '٣',
  pairs: '[1,2],',
  'rows of a grid': '[0, 1, 0],\n',
  'keyed values': '"a": 1, ',
  'letters that equal digits': 'A=1\n',
  'x to powers': 'x**2 + ',
  'products of sums': '(x+1)*',
  functions: 'sin(',
  days: '1 days, ',
  times2: '12:00:00 ',
  imaginary: '1 + 2i ',
  'bracket pairs': '()',
  'alternating brackets': '(](',
  percent: '%',
  actions: '[{"agent[0.5, 0.5]": "move(box_red, target_red)"}],',
}

const BRACKET_PAIRS: [string, string][] = [
  ['[', ']'],
  ['(', ')'],
  ['{', '}'],
  ['{"a":', '}'],
  ['-(', ')'],
  ['¬(', ')'],
  ['\\boxed{', '}'],
  ['$', '$'],
  ['f(', ')'],
  ['2**(', ')'],
]

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

/** Short to write and long to work out. */
const EXPENSIVE_EXPRESSIONS: string[] = [
  '9**9**9**9',
  '2**1000000000',
  '99999999!',
  '170!*170!*170!',
  '(a+b+c+d+e+f)**40',
  '(x+1)**1000',
  '(x+y+z)**30*(x-y-z)**30',
  'exp(exp(exp(99)))',
  'sqrt(sqrt(sqrt(sqrt(2**1000-1))))',
  '1/3**600+1/7**300+1/11**250',
  `${'('.repeat(40)}x+1${')**2'.repeat(40)}`,
  `${'sqrt('.repeat(40)}2${')'.repeat(40)}`,
  `${'(1+1/'.repeat(40)}2${')'.repeat(40)}`,
  '[9**9**9]',
  '[0]*10000*10000',
  '[[0]*1000]*1000',
  '1e100000000',
  '1e-100000000',
  '1e19999',
  'R1000000000',
  'R8589934591 '.repeat(80),
  'A+1000000000000',
  'A+1 B-1 '.repeat(100),
  LETTERS.join(' ∧ '),
  LETTERS.join(' ↔ '),
  LETTERS.map((letter) => `(${letter} ∨ ¬${letter})`).join(' ∧ '),
  `(${LETTERS.join(' → (')}${')'.repeat(26)}`,
  '¬'.repeat(1000),
  '1000000007 × 1000000009',
  '99999999999999999999999999999999 days',
  '-99999999 days, 99:99:99',
  '9999999999999999-12-31 23:59:59',
  `${'9'.repeat(400)} days`,
  `1${'0'.repeat(1000)}/3`,
  '\\frac{1}{2}'.repeat(80),
]

/** `oracle` is a right answer of the task, for what a scorer reads only after a good beginning. */
export function buildExpensiveAnswers(size: number, oracle: string): ExpensiveAnswer[] {
  const repeat = (unit: string, most = size) => unit.repeat(Math.max(1, Math.floor(most / unit.length)))
  const repeated = Object.entries(REPEATED_UNITS).map(([name, unit]) => ({ name, text: repeat(unit) }))
  const listed = Object.entries(REPEATED_UNITS).map(([name, unit]) => ({
    name: `${name} in a list`,
    text: `[${repeat(unit).replace(/[,\s]+$/, '')}]`,
  }))
  const nested = BRACKET_PAIRS.flatMap(([open, close]) => {
    const depth = Math.floor(size / (open.length + close.length))
    return [
      { name: `${open}…${close} nested`, text: open.repeat(depth) + close.repeat(depth) },
      { name: `${open} unclosed`, text: repeat(open) },
      { name: `1 in ${open}…${close}`, text: `${open.repeat(depth)}1${close.repeat(depth)}` },
    ]
  })
  const right = oracle === '' ? 'x' : oracle
  return [
    ...EXPENSIVE_EXPRESSIONS.map((text) => ({
      name: `\`${text.length > 40 ? `${text.slice(0, 39)}…` : text}\``,
      text,
    })),
    ...repeated,
    ...listed,
    ...nested,
    { name: 'right answers', text: repeat(`${right} `) },
    { name: 'lines of right answers', text: repeat(`${right}\n`) },
    { name: 'right answers without a space', text: repeat(right) },
    { name: 'a right answer in spaces', text: `${repeat(' ', size / 2)}${right}${repeat(' ', size / 2)}` },
    { name: 'a right answer, then digits', text: right + repeat('9') },
    { name: 'a long fraction', text: `${repeat('7', size / 2)}/${repeat('3', size / 2)}` },
    { name: 'a long decimal', text: `0.${repeat('7')}` },
    { name: 'a long product', text: `${repeat('7', size / 2)}*${repeat('3', size / 2)}` },
    { name: 'a long power', text: `${repeat('7', size / 2)}**${repeat('3', size / 2)}` },
    { name: 'a large exponent', text: `1e${repeat('9')}` },
    { name: 'a long hexadecimal', text: `0x${repeat('f')}` },
    { name: 'a long binary', text: `0b${repeat('1')}` },
    { name: 'an imaginary of many digits', text: `${repeat('7', size / 2)} + ${repeat('3', size / 2)}i` },
    { name: 'keys that are all alike', text: `{${repeat('"a": 1, ')}"a": 1}` },
    { name: 'a matrix', text: `[${repeat('[1, 2, 3], ')}[1]]` },
    { name: 'a wide matrix', text: `[[${repeat('1, ')}1]]` },
  ]
}
