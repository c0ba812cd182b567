/** `doctor`: whether everything is there that the server needs, and what to do where it is not. */
import { Command } from 'commander'
import { type Config, ConfigError, readConfig } from '../config.ts'
import { type Finding, fail, ok } from './doctor/finding.ts'
import { disk, folder, port, redis } from './doctor/places.ts'
import { library, machine, node, packages, python } from './doctor/programs.ts'
import { readiness, trial } from './doctor/running-server.ts'
import { examples } from './options.ts'
import { printJson, printLine } from './output.ts'
import { answers, hereOf } from './server.ts'

interface Options {
  url?: string
  start?: true
  json?: true
}

const MARKS = { ok: '✓', warn: '!', fail: '✗' } as const

export function doctor(): Command {
  return new Command('doctor')
    .summary('Whether everything is there, and what to do where it is not')
    .description(
      'Check Node, Python, the library, Redis, port and disk, and say what to do. Exit code 1 if something fails.',
    )
    .option('--url <url>', 'a server to look at too (SERVER_URL); else the one at HOST:PORT, if it runs')
    .option('--start', 'also start a server of its own for a moment, and score an item on it')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', examples('reasoning-gym-server doctor', 'reasoning-gym-server doctor --start'))
    .action(run)
}

async function run(options: Options): Promise<void> {
  const findings = await examine(options)
  if (options.json) await printJson({ ok: findings.every(({ is }) => is !== 'fail'), findings })
  else for (const finding of findings) await printLine(lineOf(finding))
  if (findings.some(({ is }) => is === 'fail')) process.exitCode = 1
}

async function examine({ url, start }: Options): Promise<Finding[]> {
  const settings = readSettings()
  const programs = [
    node(),
    packages(),
    await python('config' in settings ? settings.config.PYTHON : undefined),
    await library(),
    machine(),
  ]
  if (!('config' in settings)) return [...programs, settings.finding]
  const { config } = settings
  const places = [
    ok('Settings', 'can be read'),
    await redis(config),
    await port(config),
    await disk(config),
    await folder(config),
  ]
  const looked = url ?? config.SERVER_URL ?? ((await answers(hereOf(config))) ? hereOf(config) : undefined)
  return [
    ...programs,
    ...places.filter((finding) => finding !== undefined),
    ...(looked === undefined ? [] : [await readiness(looked.replace(/\/$/, ''))]),
    ...(start ? [await trial()] : []),
  ]
}

function readSettings(): { config: Config } | { finding: Finding } {
  try {
    return { config: readConfig() }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { finding: fail('Settings', error.message, 'correct them in the environment or in .env') }
  }
}

function lineOf({ name, is, found, advice }: Finding): string {
  return `${MARKS[is]} ${name.padEnd(9)} ${found}${advice ? `\n            → ${advice}` : ''}`
}
