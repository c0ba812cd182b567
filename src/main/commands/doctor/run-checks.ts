/** Runs the checks of `doctor`, in the order in which a user should fix the problems. */

import { CliError } from '@reasoning-gym-server/cli/cli-error'
import { getConfiguredServer, getLocalUrl, isServerRunning } from '@reasoning-gym-server/cli/with-server'
import { ConfigError } from '@reasoning-gym-server/contract/dot-env'
import { type Finding, fail, ok, warn } from '@reasoning-gym-server/contract/finding'
import { createEngineOptions } from '../../../engine/create-engine.ts'
import { PythonEngine } from '../../../engine/python-engine.ts'
import { readConfig, type ServerConfig } from '../../../platform/environment.ts'
import { getEnginePython } from '../../../platform/installation.ts'
import { errorMessage } from '../../../platform/throttled-log.ts'
import { getVenvState, venvPythonPath } from '../../bootstrap/python/python-environment.ts'
import {
  checkCheckout,
  checkLibrary,
  checkMachine,
  checkPackages,
  checkPython,
  describeNode,
} from './installation-checks.ts'
import { checkDataDirOwner, checkDisk, checkPort, checkRedis } from './redis-and-disk-checks.ts'
import { checkKey, checkReadiness } from './server-checks.ts'

/** `url`: of a server to check. Default: the server on this machine, if one runs. */
export async function runDoctorChecks({ url }: { url?: string }): Promise<Finding[]> {
  const settings = loadConfig()
  const programs = [
    describeNode(),
    checkPackages(),
    await checkPython('config' in settings ? settings.config.PYTHON : undefined),
    await checkLibrary(),
    ...checkCheckout(),
    checkMachine(),
  ]
  if (!('config' in settings)) return [...programs, settings.finding]
  const { config } = settings
  const places = [
    ok('Settings', 'valid'),
    await checkRedis(config),
    await checkPort(config),
    await checkDisk(config),
    await checkDataDirOwner(config),
    await checkCustomTasks(config),
  ]
  return [...programs, ...places.filter((finding) => finding !== undefined), ...(await checkServer({ url }, config))]
}

async function checkServer(options: { url: string | undefined }, config: ServerConfig): Promise<Finding[]> {
  try {
    const { url, key } = getConfiguredServer(options, config)
    const found = url ?? ((await isServerRunning(getLocalUrl(config))) ? getLocalUrl(config) : undefined)
    if (found === undefined) return []
    const readiness = await checkReadiness(found.replace(/\/$/, ''))
    return readiness.is === 'fail' ? [readiness] : [readiness, await checkKey(found.replace(/\/$/, ''), key)]
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    return [fail('Server', error.message, 'correct --url or REASONING_GYM_URL')]
  }
}

function loadConfig(): { config: ServerConfig } | { finding: Finding } {
  try {
    return { config: readConfig() }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { finding: fail('Settings', error.message, 'correct the settings in the environment or in .env') }
  }
}

/** Undefined without TASKS_PATH, and before the first start has installed the library. */
async function checkCustomTasks(config: ServerConfig): Promise<Finding | undefined> {
  const python = getEnginePython() ?? (getVenvState() === 'ready' ? venvPythonPath() : undefined)
  if (config.TASKS_PATH === undefined || python === undefined) return undefined
  const engine = new PythonEngine({ ...createEngineOptions(config, python), workersPerPool: 1 })
  try {
    await engine.waitUntilStarted()
    const custom = Object.entries(await engine.tasks()).flatMap(([task, { custom: definition }]) =>
      definition ? [task] : [],
    )
    const [problem] = engine.taskProblems
    if (problem) {
      const more = engine.taskProblems.length > 1 ? ` (and ${engine.taskProblems.length - 1} more)` : ''
      return fail(
        'Custom tasks',
        `${problem.file}: ${problem.detail}${more}`,
        'run "reasoning-gym-server task check $TASKS_PATH"',
      )
    }
    return custom.length > 0
      ? ok('Custom tasks', custom.join(', '))
      : warn(
          'Custom tasks',
          `TASKS_PATH=${config.TASKS_PATH} has no task`,
          'write one with "reasoning-gym-server task new my_task"',
        )
  } catch (error) {
    return fail('Custom tasks', errorMessage(error), 'correct TASKS_PATH')
  } finally {
    await engine.close()
  }
}
