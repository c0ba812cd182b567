/** A server to have its parts taken away, and what a client of it does. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { findFreePortPairs, LoopbackRedis } from '../../verification/support/loopback-redis.ts'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'
import { type Answer, openWorld, until } from '../world.ts'

export interface Client {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Posts a group of one right and one wrong answer, to a run that is put first if it does not exist. */
  post(run: string, group: string, prefer?: string): Promise<Answer>
  /** Posts it again and again until it is scored: what a client does with 503. */
  postUntilScored(run: string, group: string): Promise<Answer>
  /** Each of these groups is scored, with the rewards that it deserves. */
  expectKept(run: string, groups: string[]): Promise<void>
}

export function clientOf(url: string): Client {
  let itemId: string | undefined
  const client: Client = {
    async call(method, path, body, headers = {}) {
      const response = await fetch(url + path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      })
      const text = await response.text()
      const heads = Object.fromEntries(response.headers)
      return { status: response.status, headers: heads, body: text === '' ? undefined : JSON.parse(text) }
    },
    async post(run, group, prefer = '') {
      itemId ??= (await client.call('POST', '/items', { task: 'leg_counting', seed: 42 })).body.items?.[0]?.id
      const rollouts = [{ completion: '<answer>100</answer>' }, { completion: 'none' }]
      const submit = () =>
        client.call('POST', '/rollouts', { run, item_id: itemId, group_id: group, rollouts }, { prefer })
      const answer = await submit()
      if (answer.body?.code !== 'unknown_run') return answer
      await client.call('PUT', `/runs/${run}`, {})
      return submit()
    },
    postUntilScored: (run, group) =>
      until(
        () =>
          client.post(run, group, 'wait=10').catch((error: Error) => ({ status: 0, headers: {}, body: error.message })),
        ({ status, body }) => status === 200 && body.status === 'scored',
        90_000,
      ),
    async expectKept(run, groups) {
      for (const group of groups) {
        await until(
          () => client.call('GET', `/rollouts/${group}?run=${run}`),
          ({ body }) => body.status === 'scored' && JSON.stringify(rewardsOf(body)) === '[1,0]',
          60_000,
        )
      }
    },
  }
  return client
}

function rewardsOf(body: { verdicts: { reward: number }[] }): number[] {
  return body.verdicts.map(({ reward }) => reward)
}

export interface OnRedis extends Client {
  redis: LoopbackRedis
  stop(): Promise<void>
}

export interface ServerOnRedis extends OnRedis {
  server: ChildServer
}

/** A server in processes of its own, on a Redis of its own that stands beside it. */
export async function serverOnRedis(env: Record<string, string> = {}): Promise<ServerOnRedis> {
  const { redis, remove } = await startRedis()
  const server = await startChildServer({
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    API_PROCESSES: '1',
    WORKERS: '1',
    PYTHON_WORKERS: '1',
    ...env,
  })
  const stop = async () => {
    await server.stop()
    await remove()
  }
  return { ...clientOf(server.url), server, redis, stop }
}

/** An API and a worker in this process, where only Redis is taken away. */
export async function worldOnRedis(): Promise<OnRedis> {
  const { redis, remove } = await startRedis()
  const world = await openWorld({ worker: true, redisUrl: `redis://127.0.0.1:${redis.port}`, PYTHON_WORKERS: 1 })
  const url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  const stop = async () => {
    await world.close()
    await remove()
  }
  return { ...clientOf(url), redis, stop }
}

async function startRedis(): Promise<{ redis: LoopbackRedis; remove(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-failures-'))
  const [port = 0] = await findFreePortPairs(1)
  const redis = new LoopbackRedis(await resolveRedisBinary(console.log), folder, port, {})
  await redis.client.ping()
  const remove = async () => {
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { redis, remove }
}
