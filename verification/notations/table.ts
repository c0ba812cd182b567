/** Notations of a right answer: what is put around it, and other ways to write its number, its list or its grid. */

export type NotationKind = 'whole answer' | 'number' | 'list' | 'grid'

export interface Notation {
  name: string
  kind: NotationKind
  /** Undefined where the answer cannot be written so. */
  write: (answer: string) => string | undefined
}

const WHOLE: Readonly<Record<string, (answer: string) => string | undefined>> = {
  'spaces and lines around it': (x) => `\n  ${x} \n`,
  'no-break spaces around it': (x) => `\u00a0${x}\u202f`,
  'spaces at line ends': (x) => x.replaceAll('\n', '  \n'),
  '`**x**`': (x) => unlessIn(x, '*', `**${x}**`),
  '`__x__`': (x) => unlessIn(x, '_', `__${x}__`),
  '`*x*`': (x) => unlessIn(x, '*', `*${x}*`),
  '`_x_`': (x) => unlessIn(x, '_', `_${x}_`),
  '`***x***`': (x) => unlessIn(x, '*', `***${x}***`),
  'code ticks': (x) => unlessIn(x, '`', `\`${x}\``),
  'bold code ticks': (x) => unlessIn(x, '`', `**\`${x}\`**`),
  'a fence': (x) => unlessIn(x, '`', `\`\`\`\n${x}\n\`\`\``),
  'a fence with a language': (x) => unlessIn(x, '`', `\`\`\`text\n${x}\n\`\`\``),
  '`"x"`': (x) => unlessIn(x, '"', `"${x}"`),
  "`'x'`": (x) => unlessIn(x, "'", `'${x}'`),
  '`“x”`': (x) => `“${x}”`,
  'a final period': (x) => `${x}.`,
  '`**x**.`': (x) => unlessIn(x, '*', `**${x}**.`),
  '`Answer: x`': (x) => `Answer: ${x}`,
  '`answer is x`': (x) => `answer is ${x}`,
  '`The answer is x.`': (x) => `The answer is ${x}.`,
  '`The answer is: x`': (x) => `The answer is: ${x}`,
  '`Final answer: x`': (x) => `Final answer: ${x}`,
  '`The final answer is **x**.`': (x) => unlessIn(x, '*', `The final answer is **${x}**.`),
  '`**Answer:** x`': (x) => `**Answer:** ${x}`,
  '`**Final Answer:** x`, on its own line': (x) => `**Final Answer:**\n${x}`,
  '`\\boxed{x}`': (x) => `\\boxed{${x}}`,
  '`\\boxed{x}.`': (x) => `\\boxed{${x}}.`,
  '`$\\boxed{x}$`': (x) => unlessIn(x, '$', `$\\boxed{${x}}$`),
  '`**\\boxed{x}**`': (x) => unlessIn(x, '*', `**\\boxed{${x}}**`),
  '`\\[\\boxed{x}\\]`': (x) => `\\[\\boxed{${x}}\\]`,
  '`The answer is $\\boxed{x}$.`': (x) => unlessIn(x, '$', `The answer is $\\boxed{${x}}$.`),
  '`\\boxed{\\text{x}}`': (x) => unlessIn(x, '{', `\\boxed{\\text{${x}}}`),
  '`$x$`': (x) => unlessIn(x, '$', `$${x}$`),
  '`\\(x\\)`': (x) => `\\(${x}\\)`,
}

const NUMBERS: Readonly<Record<string, (answer: string) => string | undefined>> = {
  '`x = 5`': (x) => `x = ${x}`,
  '`total = 5`': (x) => `total = ${x}`,
  '`= 5`': (x) => `= ${x}`,
  '`2 + 3 = 5`': (x) => `2 + 3 = ${x}`,
  '`x = 2 + 3 = 5`': (x) => `x = 2 + 3 = ${x}`,
  '`$x = 5$`': (x) => `$x = ${x}$`,
  '`5.0`': (x) => (/^-?\d+$/.test(x) ? `${x}.0` : undefined),
  '`5.00`': (x) => (/^-?\d+$/.test(x) ? `${x}.00` : undefined),
  'a zero at the end of a decimal': (x) => (/^-?\d+\.\d+$/.test(x) ? `${x}0` : undefined),
  '`+5`': (x) => (x.startsWith('-') ? undefined : `+${x}`),
  'U+2212 for minus': (x) => (x.startsWith('-') ? x.replace('-', '\u2212') : undefined),
  '`1,800`': (x) => separateThousands(x, ','),
  '`1 800`': (x) => separateThousands(x, ' '),
  '`1 800` with a thin space': (x) => separateThousands(x, '\u2009'),
  '`1_800`': (x) => separateThousands(x, '_'),
  "`1'800`": (x) => separateThousands(x, "'"),
  '`1{,}800`': (x) => separateThousands(x, '{,}'),
  '`**1,800**`': (x) => {
    const written = separateThousands(x, ',')
    return written === undefined ? undefined : `**${written}**`
  },
}

const LISTS: Readonly<Record<string, (answer: string) => string | undefined>> = {
  'no spaces after commas': (x) => x.replaceAll(', ', ','),
  'a space after each comma': (x) => x.replaceAll(/, */g, ', '),
  'spaces inside the brackets': (x) => (/^\[[^[\]]*\]$/.test(x) ? `[ ${x.slice(1, -1)} ]` : undefined),
  'no brackets': (x) => (/^\[[^[\]]+\]$/.test(x) ? x.slice(1, -1) : undefined),
  'with brackets': (x) => (/^[^[\]()]+$/.test(x) ? `[${x}]` : undefined),
  'the other quotes': (x) =>
    x.includes('"') && !x.includes("'") ? x.replaceAll('"', "'") : x.includes('"') ? undefined : swapQuotes(x),
  'a line for each part': (x) => (/^\[[^[\]]*\]$/.test(x) ? x.replaceAll(/, */g, ',\n') : undefined),
}

const GRIDS: Readonly<Record<string, (answer: string) => string | undefined>> = {
  'a list of lists': (x) => writeRows(x, (rows) => `[${rows.map((row) => `[${row.join(', ')}]`).join(', ')}]`),
  'a list of lists, a line each': (x) =>
    writeRows(x, (rows) => `[${rows.map((row) => `[${row.join(', ')}]`).join(',\n ')}]`),
  'brackets around each line': (x) => writeRows(x, (rows) => rows.map((row) => `[${row.join(', ')}]`).join('\n')),
  'commas in each line': (x) => writeRows(x, (rows) => rows.map((row) => row.join(', ')).join('\n')),
  'two spaces between cells': (x) => writeRows(x, (rows) => rows.map((row) => row.join('  ')).join('\n')),
  'tabs between cells': (x) => writeRows(x, (rows) => rows.map((row) => row.join('\t')).join('\n')),
}

export const NOTATIONS: readonly Notation[] = [
  ...list('whole answer', WHOLE, () => true),
  ...list('number', NUMBERS, (answer) => /^-?\d+(\.\d+)?$/.test(answer)),
  ...list(
    'list',
    LISTS,
    (answer) =>
      !answer.includes('\n') &&
      /, ?/.test(answer) &&
      !/"[^",]*,[^"]*"/.test(answer) &&
      !/[(){}=]/.test(answer) &&
      isShortParts(answer),
  ),
  ...list('grid', GRIDS, isGrid),
]

function list(kind: NotationKind, table: typeof WHOLE, applies: (answer: string) => boolean): Notation[] {
  return Object.entries(table).map(([name, write]) => ({
    name,
    kind,
    write: (answer) => (applies(answer) ? write(answer) : undefined),
  }))
}

function unlessIn(answer: string, sign: string, written: string): string | undefined {
  return answer.includes(sign) ? undefined : written
}

function separateThousands(number: string, sign: string): string | undefined {
  const [, minus = '', whole = '', rest = ''] = /^(-?)(\d+)(.*)$/.exec(number) ?? []
  return whole.length < 4 ? undefined : `${minus}${whole.replaceAll(/\B(?=(?:\d{3})+$)/g, sign)}${rest}`
}

function swapQuotes(text: string): string | undefined {
  return text.includes("'") ? text.replaceAll("'", '"') : undefined
}

/** A sentence with a comma is no list. */
function isShortParts(answer: string): boolean {
  return answer.split(/, ?/).every((part) => !part.trim().includes(' '))
}

function isGrid(answer: string): boolean {
  const rows = answer.split('\n').map((line) => line.trim().split(/ +/))
  return (
    rows.length > 1 && rows.every((row) => row.length > 1 && row.length === rows[0]?.length) && !/[[\](),]/.test(answer)
  )
}

function writeRows(answer: string, write: (rows: string[][]) => string): string {
  return write(answer.split('\n').map((line) => line.trim().split(/ +/)))
}
