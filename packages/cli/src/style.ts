/** Colors, on streams that show them. NO_COLOR, FORCE_COLOR and pipes are honored, separately for stdout and stderr. */
import { stripVTControlCharacters, styleText } from 'node:util'

export type Tone = 'good' | 'warn' | 'bad' | 'muted'

const COLORS = { good: 'green', warn: 'yellow', bad: 'red', muted: 'dim' } as const

export function paint(text: string, tone: Tone | undefined, stream: NodeJS.WriteStream = process.stdout): string {
  return tone === undefined || text === '' ? text : styleText(COLORS[tone], text, { stream })
}

export function heading(text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText('bold', text, { stream })
}

export function muted(text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return paint(text, 'muted', stream)
}

export function link(url: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(['cyan', 'underline'], url, { stream })
}

/** Number of characters that a terminal shows. */
export function measureWidth(text: string): number {
  return [...stripVTControlCharacters(text)].length
}
