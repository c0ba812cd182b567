/** All that the doctor looks at, in the order in which it matters. */
import { type Config, ConfigError, readConfig } from '../../config.ts'
import { answers, hereOf } from '../server.ts'
import { type Finding, fail, ok } from './finding.ts'
import { disk, folder, port, redis } from './places.ts'
import { library, machine, node, packages, python } from './programs.ts'
import { readiness, trial } from './running-server.ts'

interface Options {
  /** A server to look at; none: the one here, if it runs. */
  url?: string
  /** Whether to start one for a moment. */
  start?: true
}

export async function examine({ url, start }: Options): Promise<Finding[]> {
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
