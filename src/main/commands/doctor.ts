/** `doctor`: checks what the server needs, and says how to fix what is missing. */

import { CliCommand, EXIT_CODES } from '@reasoning-gym-server/cli/command'
import { formatFinding, summarizeFindings } from '@reasoning-gym-server/cli/findings'
import { printJson, printLine } from '@reasoning-gym-server/cli/output'
import type { Command } from 'commander'
import { overrideEnvironment } from '../../platform/installation.ts'

const NAME_WIDTH = 9

interface DoctorOptions {
  url?: string
  dataDir?: string
  json?: true
}

export function buildDoctorCommand(): Command {
  return new CliCommand('doctor')
    .description(
      'Check Node, Python, the library, the settings, Redis, the port and the disk, and print what to do about each problem.',
    )
    .option(
      '--url <url>',
      'also check the server at this URL (env: REASONING_GYM_URL; default: the server at HOST:PORT, if one runs there)',
    )
    .option(
      '--data-dir <directory>',
      'directory for the data of the private Redis and the dump files (env: DATA_DIR; default: ./data)',
    )
    .option('--json', 'print the findings as JSON')
    .examples(['reasoning-gym-server doctor', 'reasoning-gym-server doctor --json'], {
      ...EXIT_CODES,
      0: 'every check passed, possibly with warnings',
      1: 'at least one check failed',
    })
    .action(runDoctor)
}

async function runDoctor(options: DoctorOptions): Promise<void> {
  overrideEnvironment({ DATA_DIR: options.dataDir })
  const { runDoctorChecks } = await import('./doctor/run-checks.ts') // lazy: other commands do not need the Redis client
  const findings = await runDoctorChecks(options)
  if (options.json) await printJson({ ok: findings.every(({ is }) => is !== 'fail'), findings })
  else {
    for (const finding of findings) await printLine(formatFinding(finding, NAME_WIDTH))
    await printLine(`\n${summarizeFindings(findings)}`)
  }
  if (findings.some(({ is }) => is === 'fail')) process.exitCode = 1
}
