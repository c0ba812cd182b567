/** `doctor`: whether everything is there that the server needs, and what to do where it is not. */
import { Command } from 'commander'
import type { Finding } from './doctor/finding.ts'
import { formatExamples } from './option-parsers.ts'
import { printJson, printLine } from './output.ts'

interface DoctorOptions {
  url?: string
  start?: true
  json?: true
}

const STATUS_SYMBOLS = { ok: '✓', warn: '!', fail: '✗' } as const

export function buildDoctorCommand(): Command {
  return new Command('doctor')
    .summary('Whether everything is there, and what to do where it is not')
    .description(
      'Check Node, Python, the library, Redis, port and disk, and say what to do. Exit code 1 if something fails.',
    )
    .option('--url <url>', 'a server to look at too (SERVER_URL); else the one at HOST:PORT, if it runs')
    .option('--start', 'also start a server of its own for a moment, and score an item on it')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', formatExamples('reasoning-gym-server doctor', 'reasoning-gym-server doctor --start'))
    .action(runDoctor)
}

async function runDoctor(options: DoctorOptions): Promise<void> {
  const { runDoctorChecks } = await import('./doctor/run-checks.ts') // with the client of Redis, which other commands need not load
  const findings = await runDoctorChecks(options)
  if (options.json) await printJson({ ok: findings.every(({ is }) => is !== 'fail'), findings })
  else for (const finding of findings) await printLine(formatFinding(finding))
  if (findings.some(({ is }) => is === 'fail')) process.exitCode = 1
}

function formatFinding({ name, is, found, advice }: Finding): string {
  return `${STATUS_SYMBOLS[is]} ${name.padEnd(9)} ${found}${advice ? `\n            → ${advice}` : ''}`
}
