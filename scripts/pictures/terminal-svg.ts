/** Draws lines of a terminal as an SVG in a window frame. */
import type { Span } from './ansi-screen.ts'

const CHAR_WIDTH = 8.4
const LINE_HEIGHT = 19
const PADDING = 18
const TITLE_HEIGHT = 34
/** Measured on the ground #14171a: 4.5 to 1 at least. */
const COLORS: Record<number, string> = {
  30: '#8a929a',
  31: '#f29086',
  32: '#66c794',
  33: '#e2b64c',
  34: '#7fb2f0',
  35: '#c9a6f0',
  36: '#6cc3cc',
  37: '#e6e9ea',
  90: '#8a929a',
}

/** `columns`: the width of the terminal in characters. `label`: what the picture shows, for screen readers. */
export function drawTerminal(lines: Span[][], columns: number, label: string): string {
  const width = Math.ceil(columns * CHAR_WIDTH + 2 * PADDING)
  const height = TITLE_HEIGHT + lines.length * LINE_HEIGHT + PADDING
  const text = lines.flatMap((spans, k) => {
    const y = TITLE_HEIGHT + (k + 0.75) * LINE_HEIGHT
    return spans.length === 0 ? [] : [`<text y="${y}">${spans.map(drawSpan).join('')}</text>`]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(label)}">`,
    `<rect width="${width}" height="${height}" rx="9" fill="#14171a"/>`,
    ...['#f29086', '#e2b64c', '#66c794'].map(
      (fill, k) => `<circle cx="${20 + 18 * k}" cy="18" r="5.5" fill="${fill}"/>`,
    ),
    `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" fill="#e6e9ea" xml:space="preserve">`,
    ...text,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/** Each span has a place and a length of its own, so that columns line up in every font. */
function drawSpan({ column, text, bold, dim, underline, color }: Span): string {
  const fill = color === undefined ? (dim ? '#9aa3ab' : undefined) : COLORS[color]
  const attributes = [
    `x="${round(PADDING + column * CHAR_WIDTH)}"`,
    `textLength="${round([...text].length * CHAR_WIDTH)}"`,
    fill && `fill="${fill}"`,
    bold && 'font-weight="700"',
    underline && 'text-decoration="underline"',
  ]
  return `<tspan ${attributes.filter(Boolean).join(' ')}>${escapeXml(text)}</tspan>`
}

function round(x: number): string {
  return x.toFixed(1).replace(/\.0$/, '')
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
