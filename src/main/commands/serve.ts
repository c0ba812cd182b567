/** `serve`, `api` and `worker`: start the server's processes. Options cover the settings that change most often. */
import { CliCommand, PROCESS_EXIT_CODES } from '@reasoning-gym-server/cli/command'
import { getInterruptSignal } from '@reasoning-gym-server/cli/interrupt-signal'
import { integerParser } from '@reasoning-gym-server/cli/options'
import { printStatus } from '@reasoning-gym-server/cli/output'
import type { ServerRequirements } from '@reasoning-gym-server/cli/with-server'
import type { Command } from 'commander'
import { readConfig } from '../../platform/environment.ts'
import { overrideEnvironment } from '../../platform/installation.ts'
import { type ChildServer, startChildServer } from '../bootstrap/child-server.ts'
import { ensurePythonEnvironment } from '../bootstrap/python/python-environment.ts'

/** Each option overrides the variable of its name: `dataDir` is DATA_DIR. */
type RoleOptions = Record<string, string | number | true>

/** Options of several commands. */
const HOST_OPTION = ['--host <host>', 'address to listen on (env: HOST; default: 127.0.0.1)'] as const
const PORT_OPTION = ['--port <port>', 'port to listen on (env: PORT; default: 8000)', integerParser()] as const
const REDIS_OPTION = [
  '--redis-url <url>',
  'Redis that all processes share, required here or in the environment (env: REDIS_URL)',
] as const
const LOG_LEVEL_OPTION = [
  '--log-level <level>',
  'least severe level to log: fatal, error, warn, info, debug, trace or silent (env: LOG_LEVEL; default: info)',
] as const

export function buildServeCommand(): Command {
  return createRoleCommand(
    'serve',
    'Run the whole server on this machine: HTTP processes, worker processes, the Python engine, and a private Redis unless you set REDIS_URL.',
  )
    .option(...HOST_OPTION)
    .option(...PORT_OPTION)
    .option(
      '--data-dir <directory>',
      'directory for the data of the private Redis and the dump files (env: DATA_DIR; default: ./data)',
    )
    .option('--redis-url <url>', 'use this Redis instead of a private one (env: REDIS_URL)')
    .option(
      '--api-processes <count>',
      'number of HTTP processes (env: API_PROCESSES; default: one per CPU core, at most 16)',
      integerParser(1),
    )
    .option(
      '--workers <count>',
      'number of worker processes (env: WORKERS; default: half the default of --api-processes)',
      integerParser(),
    )
    .option('--small', 'for a laptop: run one process that is both API and worker, with half the memory (env: SMALL)')
    .option(...LOG_LEVEL_OPTION)
    .option('--tasks-path <places>', 'folders, files or modules with your custom tasks (env: TASKS_PATH)')
    .option('--watch-tasks', 'read your custom tasks again when their files change (env: WATCH_TASKS)')
    .examples(
      [
        'reasoning-gym-server serve',
        'reasoning-gym-server serve --small',
        'reasoning-gym-server serve --port 9000 --data-dir /srv/gym',
      ],
      PROCESS_EXIT_CODES,
    )
    .action((options: RoleOptions) => startRole(options, () => import('../serve.ts')))
}

export function buildApiCommand(): Command {
  return createRoleCommand(
    'api',
    'Run one HTTP process. Worker processes that share its Redis score groups and run evals. Requires REDIS_URL.',
  )
    .option(...HOST_OPTION)
    .option(...PORT_OPTION)
    .option(...REDIS_OPTION)
    .option(...LOG_LEVEL_OPTION)
    .examples(['reasoning-gym-server api --redis-url redis://redis:6379 --host 0.0.0.0'], PROCESS_EXIT_CODES)
    .action((options: RoleOptions) => startRole(options, () => import('../api.ts')))
}

export function buildWorkerCommand(): Command {
  return createRoleCommand(
    'worker',
    'Run one worker process, which scores groups, requests completions from models, and writes dump files. Requires REDIS_URL.',
  )
    .option(...REDIS_OPTION)
    .option(
      '--worker-port <port>',
      'port for health probes and metrics (env: WORKER_PORT; default: 8001)',
      integerParser(),
    )
    .option(
      '--concurrency <count>',
      'number of groups to score at once (env: WORKER_CONCURRENCY; default: 64)',
      integerParser(1),
    )
    .option(...LOG_LEVEL_OPTION)
    .examples(['reasoning-gym-server worker --redis-url redis://redis:6379'], PROCESS_EXIT_CODES)
    .action((options: RoleOptions) => startRole(options, () => import('../worker.ts')))
}

function createRoleCommand(name: string, description: string): CliCommand {
  return new CliCommand(name).description(
    `${description} The command reads all settings from the environment or a .env file (docs/reference/environment.md); the options below override them.`,
  )
}

/** Importing an entry point starts its process, which runs until a signal stops it. */
async function startRole({ concurrency, ...options }: RoleOptions, load: () => Promise<unknown>): Promise<void> {
  const variables = Object.entries(options).map(([name, value]) => [name.replace(/[A-Z]/g, '_$&').toUpperCase(), value])
  overrideEnvironment({ ...Object.fromEntries(variables), WORKER_CONCURRENCY: concurrency })
  await load()
}

/** A server that a command starts for itself: loopback only, without API keys, in one process. */
export async function startTemporaryServer({
  keeps,
  modelHosts,
  usesConfiguredPort,
}: ServerRequirements): Promise<ChildServer> {
  const { DATA_DIR, PORT, PYTHON, MODEL_HOSTS } = readConfig()
  await ensurePythonEnvironment(printStatus, PYTHON) // not in the child, whose output is hidden and whose startup has a deadline
  const settings = {
    HOST: '127.0.0.1',
    API_KEYS: '',
    API_KEYS_FILE: '',
    SMALL: 'true',
    ...(keeps && { DATA_DIR }),
    ...(usesConfiguredPort && { PORT: String(PORT) }),
    ...(modelHosts && { MODEL_HOSTS: [...MODEL_HOSTS, ...modelHosts].join(',') }),
  }
  return startChildServer(settings, { signal: getInterruptSignal() })
}
