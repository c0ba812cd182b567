/** `doctor`: whether everything is there that the server needs, and what to do where it is not. */
import { Command } from 'commander'
import { overrideEnvironment } from '../platform/config.ts'
import type { Finding } from './doctor/finding.ts'
import { formatExamples } from './option-parsers.ts'
import { printJson, printLine } from './output.ts'

interface DoctorOptions {
  url?: string
  start?: true
  repair?: true
  dataDir?: string
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
    .option(
      '--repair',
      'only repair the data of the private Redis: keep a copy of a damaged file, and cut the damaged end off. Refuses while a server runs',
    )
    .option('--data-dir <folder>', 'where the private Redis and the dumps live (DATA_DIR)')
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      formatExamples(
        'reasoning-gym-server doctor',
        'reasoning-gym-server doctor --start',
        'reasoning-gym-server doctor --repair',
      ),
    )
    .action(runDoctor)
}

async function runDoctor(options: DoctorOptions): Promise<void> {
  overrideEnvironment({ DATA_DIR: options.dataDir })
  const { runDoctorChecks, runRepair } = await import('./doctor/run-checks.ts') // with the client of Redis, which other commands need not load
  const findings = options.repair ? await runRepair() : await runDoctorChecks(options)
  if (options.json) await printJson({ ok: findings.every(({ is }) => is !== 'fail'), findings })
  else for (const finding of findings) await printLine(formatFinding(finding))
  if (findings.some(({ is }) => is === 'fail')) process.exitCode = 1
}

function formatFinding({ name, is, found, advice }: Finding): string {
  return `${STATUS_SYMBOLS[is]} ${name.padEnd(9)} ${found}${advice ? `\n            → ${advice}` : ''}`
}
