/** How `doctor` and `task check` print the findings of their checks. */
import type { Finding } from '@reasoning-gym-server/contract/finding'
import { measureWidth, nameProgram, paint } from './output.ts'
import { getOutputWidth } from './table.ts'

const STATUS_SYMBOLS = { ok: '✓', warn: '!', fail: '✗' } as const
const STATUS_TONES = { ok: 'good', warn: 'warn', fail: 'bad' } as const

/** The names of the list are padded to `nameWidth`. */
export function formatFinding({ name, is, found, advice }: Finding, nameWidth: number): string {
  const tone = STATUS_TONES[is]
  const symbol = paint(STATUS_SYMBOLS[is], tone)
  const lines = wrapText(nameWidth, is === 'ok' ? found : paint(found, tone))
  const advised = advice ? wrapText(nameWidth, `→ ${nameProgram(advice)}`) : []
  return `${symbol} ${name.padEnd(nameWidth)} ${[...lines, ...advised].join(`\n${' '.repeat(nameWidth + 3)}`)}`
}

/** Breaks a text into lines that fit beside the names, in a terminal. */
function wrapText(nameWidth: number, text: string): string[] {
  const width = getOutputWidth() - nameWidth - 3
  const [first = '', ...words] = text.split(' ')
  const lines = [first]
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`
    if (measureWidth(longer) > width) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

export function summarizeFindings(findings: Finding[]): string {
  const count = (wanted: Finding['is']) => findings.filter(({ is }) => is === wanted).length
  const failed = count('fail')
  const warned = count('warn')
  const warnings = warned === 0 ? '' : `${warned} ${warned === 1 ? 'warning' : 'warnings'}`
  if (failed > 0) return paint(`${failed} of ${findings.length} checks failed${warnings && `, ${warnings}`}`, 'bad')
  return warned > 0
    ? paint(`No check failed, ${warnings}`, 'warn')
    : paint(`All ${findings.length} checks passed`, 'good')
}
