/** `serve`, `api`, `worker`: the processes of the server, with the settings that are changed most as options. */
import { Command } from 'commander'
import { changeEnvironment } from '../config.ts'
import { examples, whole } from './options.ts'

interface Options {
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

export function serve(): Command {
  return role(
    'serve',
    'Serve everything in one command: HTTP, workers, the engine, and a private Redis unless one is named.',
  )
    .option('--host <host>', 'address to listen on (HOST)')
    .option('--port <port>', 'port to listen on (PORT)', whole())
    .option('--data-dir <folder>', 'where the private Redis and the dumps live (DATA_DIR)')
    .option('--redis-url <url>', 'a Redis of yours (REDIS_URL)')
    .option('--api-processes <count>', 'HTTP processes (API_PROCESSES)', whole(1))
    .option('--workers <count>', 'worker processes (WORKERS)', whole())
    .option('--log-level <level>', 'fatal, error, warn, info, debug, trace, silent (LOG_LEVEL)')
    .addHelpText(
      'after',
      examples('reasoning-gym-server serve', 'reasoning-gym-server serve --port 9000 --data-dir /srv/gym'),
    )
    .action((options: Options) => start(options, () => import('../serve.ts')))
}

export function api(): Command {
  return role('api', 'Serve HTTP only; workers elsewhere do the scoring of groups. Needs a Redis that all can reach.')
    .option('--host <host>', 'address to listen on (HOST)')
    .option('--port <port>', 'port to listen on (PORT)', whole())
    .option('--redis-url <url>', 'the Redis (REDIS_URL)')
    .option('--log-level <level>', 'fatal, error, warn, info, debug, trace, silent (LOG_LEVEL)')
    .addHelpText('after', examples('reasoning-gym-server api --redis-url redis://redis:6379 --host 0.0.0.0'))
    .action((options: Options) => start(options, () => import('../api.ts')))
}

export function worker(): Command {
  return role('worker', 'Do the jobs only: score groups, sample models, write dumps.')
    .option('--redis-url <url>', 'the Redis (REDIS_URL)')
    .option('--worker-port <port>', 'port of its probes (WORKER_PORT)', whole())
    .option('--concurrency <count>', 'groups in hand at once (WORKER_CONCURRENCY)', whole(1))
    .option('--log-level <level>', 'fatal, error, warn, info, debug, trace, silent (LOG_LEVEL)')
    .addHelpText('after', examples('reasoning-gym-server worker --redis-url redis://redis:6379'))
    .action((options: Options) => start(options, () => import('../worker.ts')))
}

function role(name: string, what: string): Command {
  return new Command(name)
    .summary(what.split(/[.;:]/)[0] ?? what)
    .description(`${what} All settings: the environment, or a .env file; see the README.`)
}

/** The mains of the processes start when they are imported, and end by signals. */
async function start(options: Options, load: () => Promise<unknown>): Promise<void> {
  changeEnvironment({
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
