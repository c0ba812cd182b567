/** A small terminal emulator: turns the output of a program, with its colors and cursor movements, into lines of styled text. */

export interface Style {
  bold: boolean
  dim: boolean
  underline: boolean
  /** 30–37 or 90–97, as SGR numbers them; undefined for the default. */
  color: number | undefined
}

export interface Span extends Style {
  column: number
  text: string
}

interface Cell {
  char: string
  style: Style
}

const PLAIN: Style = { bold: false, dim: false, underline: false, color: undefined }
/** A CSI sequence, another escape sequence, or a character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it parses
const TOKEN = /\u001b\[([?\d;]*)([A-Za-z])|\u001b\].*?(?:\u0007|\u001b\\)|\u001b.|[\s\S]/gu // oxlint-disable-line no-control-regex

/** Returns a list of spans for each line. Longer lines than `columns` continue on the next one, as in a terminal. */
export function renderScreen(output: string, columns = Number.POSITIVE_INFINITY): Span[][] {
  const rows: Cell[][] = []
  let [row, column, style] = [0, 0, PLAIN]
  for (const [token, params = '', command] of output.matchAll(TOKEN)) {
    const count = Math.max(1, Number.parseInt(params, 10) || 1)
    rows[row] ??= []
    const cells = rows[row] ?? []
    if (command === 'm') style = applySgr(style, params)
    else if (command === 'A') row = Math.max(0, row - count)
    else if (command === 'B') row += count
    else if (command === 'G') column = count - 1
    else if (command === 'K') cells.splice(params === '2' ? 0 : column)
    else if (command === 'J') rows.splice(row + 1)
    else if (token === '\n') row++
    else if (token === '\r') column = 0
    else if (!token.startsWith('\u001b') && token >= ' ') {
      if (column >= columns) {
        row++
        column = 0
        rows[row] = []
      }
      const target = rows[row] ?? cells
      while (target.length < column) target.push({ char: ' ', style: PLAIN })
      target[column] = { char: token, style }
      column++
    }
    if (token === '\n') column = 0
  }
  return Array.from(rows, (cells: Cell[] | undefined) => joinCells(cells ?? []))
}

const SGR_CHANGES: Record<number, Partial<Style>> = {
  0: PLAIN,
  1: { bold: true },
  2: { dim: true },
  4: { underline: true },
  22: { bold: false, dim: false },
  24: { underline: false },
  39: { color: undefined },
}

function applySgr(style: Style, params: string): Style {
  const changed = { ...style }
  for (const code of params.split(';').map(Number)) {
    const isColor = (code >= 30 && code <= 37) || (code >= 90 && code <= 97)
    Object.assign(changed, isColor ? { color: code } : SGR_CHANGES[code])
  }
  return changed
}

function joinCells(cells: Cell[]): Span[] {
  const spans: Span[] = []
  const end = cells.findLastIndex(({ char, style }) => char !== ' ' || style.underline) + 1
  cells.slice(0, end).forEach(({ char, style }, column) => {
    const last = spans.at(-1)
    if (last && isSame(last, style) && !(char !== ' ' && last.text.endsWith('  '))) last.text += char
    else spans.push({ ...style, column, text: char })
  })
  const trimmed = spans.map((span) => ({ ...span, text: span.text.trimEnd() }))
  return trimmed.filter(({ text }) => text !== '')
}

function isSame(a: Style, b: Style): boolean {
  return a.bold === b.bold && a.dim === b.dim && a.underline === b.underline && a.color === b.color
}
