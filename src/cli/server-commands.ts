/** `serve`, `api`, `worker`: the processes of the server, with the settings that are changed most as options. */
import { Command } from 'commander'
import { overrideEnvironment } from '../platform/config.ts'
import { formatExamples, integerParser } from './option-parsers.ts'

interface RoleOptions {
  host?: string
  port?: number
  workerPort?: number
  dataDir?: string
  redisUrl?: string
  apiProcesses?: number
  workers?: number
  concurrency?: number
  logLevel?: string
}

export function buildServeCommand(): Command {
  return createRoleCommand(
    'serve',
    'Serve everything in one command: HTTP, workers, the engine, and a private Redis unless one is named.',
  )
    .option('--host <host>', 'address to listen on (HOST)')
    .option('--port <port>', 'port to listen on (PORT)', integerParser())
    .option('--data-dir <folder>', 'where the private Redis and the dumps live (DATA_DIR)')
    .option('--redis-url <url>', 'a Redis of yours (REDIS_URL)')
    .option('--api-processes <count>', 'HTTP processes (API_PROCESSES)', integerParser(1))
    .option('--workers <count>', 'worker processes (WORKERS)', integerParser())
    .option('--log-level <level>', 'fatal, error, warn, info, debug, trace, silent (LOG_LEVEL)')
    .addHelpText(
      'after',
      formatExamples('reasoning-gym-server serve', 'reasoning-gym-server serve --port 9000 --data-dir /srv/gym'),
    )
    .action((options: RoleOptions) => startRole(options, () => import('../main/serve.ts')))
}

export function buildApiCommand(): Command {
  return createRoleCommand(
    'api',
    'Serve HTTP only; workers elsewhere do the scoring of groups. Needs a Redis that all can reach.',
  )
    .option('--host <host>', 'address to listen on (HOST)')
    .option('--port <port>', 'port to listen on (PORT)', integerParser())
    .option('--redis-url <url>', 'the Redis (REDIS_URL)')
    .option('--log-level <level>', 'fatal, error, warn, info, debug, trace, silent (LOG_LEVEL)')
    .addHelpText('after', formatExamples('reasoning-gym-server api --redis-url redis://redis:6379 --host 0.0.0.0'))
    .action((options: RoleOptions) => startRole(options, () => import('../main/api.ts')))
}

export function buildWorkerCommand(): Command {
  return createRoleCommand('worker', 'Do the jobs only: score groups, sample models, write dumps.')
    .option('--redis-url <url>', 'the Redis (REDIS_URL)')
    .option('--worker-port <port>', 'port of its probes (WORKER_PORT)', integerParser())
    .option('--concurrency <count>', 'groups in hand at once (WORKER_CONCURRENCY)', integerParser(1))
    .option('--log-level <level>', 'fatal, error, warn, info, debug, trace, silent (LOG_LEVEL)')
    .addHelpText('after', formatExamples('reasoning-gym-server worker --redis-url redis://redis:6379'))
    .action((options: RoleOptions) => startRole(options, () => import('../main/worker.ts')))
}

function createRoleCommand(name: string, what: string): Command {
  return new Command(name)
    .summary(what.split(/[.;:]/)[0] ?? what)
    .description(`${what} All settings: the environment, or a .env file; see the README.`)
}

/** The mains of the processes start when they are imported, and end by signals. */
async function startRole(options: RoleOptions, load: () => Promise<unknown>): Promise<void> {
  overrideEnvironment({
    HOST: options.host,
    PORT: options.port,
    WORKER_PORT: options.workerPort,
    DATA_DIR: options.dataDir,
    REDIS_URL: options.redisUrl,
    API_PROCESSES: options.apiProcesses,
    WORKERS: options.workers,
    WORKER_CONCURRENCY: options.concurrency,
    LOG_LEVEL: options.logLevel,
  })
  await load()
}
