/** `doctor`: checks what the server needs, and says how to fix what is missing. */

import { Command } from 'commander'
import { overrideEnvironment } from '../platform/environment.ts'
import type { Finding } from './doctor/finding.ts'
import { EXIT_CODES, formatHelpFooter } from './help.ts'
import { printJson, printLine } from './output.ts'
import { measureWidth, paint } from './style.ts'
import { getOutputWidth } from './table.ts'

const NAME_WIDTH = 9

interface DoctorOptions {
  url?: string
  start?: true
  repair?: true
  dataDir?: string
  json?: true
}

const STATUS_SYMBOLS = { ok: '✓', warn: '!', fail: '✗' } as const
const STATUS_TONES = { ok: 'good', warn: 'warn', fail: 'bad' } as const

export function buildDoctorCommand(): Command {
  return new Command('doctor')
    .description(
      'Check Node, Python, the library, the settings, Redis, the port and the disk, and print what to do about each problem.',
    )
    .option(
      '--url <url>',
      'also check the server at this URL (env: REASONING_GYM_URL; default: the server at HOST:PORT, if one runs there)',
    )
    .option('--start', 'also start a temporary server and score an item on it')
    .option(
      '--repair',
      'only repair the data file of the private Redis: copy a damaged file, then cut off its damaged end; changes nothing while a server runs',
    )
    .option(
      '--data-dir <directory>',
      'directory for the data of the private Redis and the dump files (env: DATA_DIR; default: ./data)',
    )
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      formatHelpFooter({
        examples: [
          'reasoning-gym-server doctor',
          'reasoning-gym-server doctor --start',
          'reasoning-gym-server doctor --repair',
        ],
        exitCodes: { ...EXIT_CODES, 0: 'every check passed, possibly with warnings', 1: 'at least one check failed' },
      }),
    )
    .action(runDoctor)
}

async function runDoctor(options: DoctorOptions): Promise<void> {
  overrideEnvironment({ DATA_DIR: options.dataDir })
  const { runDoctorChecks, runRepair } = await import('./doctor/run-checks.ts') // lazy: other commands do not need the Redis client
  const findings = options.repair ? await runRepair() : await runDoctorChecks(options)
  if (options.json) await printJson({ ok: findings.every(({ is }) => is !== 'fail'), findings })
  else {
    for (const finding of findings) await printLine(formatFinding(finding))
    await printLine(`\n${summarize(findings)}`)
  }
  if (findings.some(({ is }) => is === 'fail')) process.exitCode = 1
}

function formatFinding({ name, is, found, advice }: Finding): string {
  const tone = STATUS_TONES[is]
  const symbol = paint(STATUS_SYMBOLS[is], tone)
  const lines = wrapText(is === 'ok' ? found : paint(found, tone))
  const advised = advice ? wrapText(`→ ${advice}`) : []
  return `${symbol} ${name.padEnd(NAME_WIDTH)} ${[...lines, ...advised].join(`\n${' '.repeat(NAME_WIDTH + 3)}`)}`
}

/** Breaks a text into lines that fit beside the names, in a terminal. */
function wrapText(text: string): string[] {
  const width = getOutputWidth() - NAME_WIDTH - 3
  const [first = '', ...words] = text.split(' ')
  const lines = [first]
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`
    if (measureWidth(longer) > width) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}

function summarize(findings: Finding[]): string {
  const count = (wanted: Finding['is']) => findings.filter(({ is }) => is === wanted).length
  const [failed, warned] = [count('fail'), count('warn')]
  const warnings = warned === 0 ? '' : `${warned} ${warned === 1 ? 'warning' : 'warnings'}`
  if (failed > 0) return paint(`${failed} of ${findings.length} checks failed${warnings && `, ${warnings}`}`, 'bad')
  return warned > 0
    ? paint(`No check failed, ${warnings}`, 'warn')
    : paint(`All ${findings.length} checks passed`, 'good')
}
