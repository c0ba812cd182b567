/** The figures of the proof, each with its limit, and what they are read from: the slow log of Redis, processor time, a probe. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Redis } from 'ioredis'

const CLOCK_TICKS_PER_S = 100

export class Figures {
  readonly #rows: string[][] = []
  #failures = 0

  add(name: string, value: number, unit: string, limit?: number): void {
    const isMet = limit === undefined || value <= limit
    if (!isMet) this.#failures++
    const row = [
      name,
      `${Number(value.toPrecision(3))} ${unit}`,
      limit === undefined ? '' : `≤ ${limit}`,
      isMet ? '' : '**no**',
    ]
    this.#rows.push(row)
    console.log(row.join('  '))
  }

  /** Prints the table, and returns how many limits were not met. */
  print(): number {
    console.log(['| figure | value | limit | met |', '|---|---|---|---|'].join('\n'))
    for (const row of this.#rows) console.log(`| ${row.join(' | ')} |`)
    return this.#failures
  }
}

/** Processor time of a process so far, in ms. */
export function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / CLOCK_TICKS_PER_S
}

/** Commands that Redis runs per second, without those of this process, over `seconds`. */
export async function countCommandsPerSecond(redis: Redis, seconds: number): Promise<number> {
  const read = async () => Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1])
  const before = await read()
  await sleep(seconds * 1000)
  return ((await read()) - before - 1) / seconds
}

/** Runs `work`, and returns the slowest command that Redis ran meanwhile. */
export async function watchSlowLog(
  redis: Redis,
  work: () => Promise<unknown>,
): Promise<{ ms: number; command: string }> {
  await redis.config('SET', 'slowlog-log-slower-than', '1000')
  await redis.slowlog('RESET')
  await work()
  const entries = (await redis.slowlog('GET', 1000)) as [id: number, at: number, us: number, args: string[]][] // as Redis documents them
  const [slowest] = entries.toSorted((a, b) => b[2] - a[2])
  return { ms: (slowest?.[2] ?? 0) / 1000, command: slowest?.[3].slice(0, 3).join(' ').slice(0, 80) ?? '' }
}

/** Runs `work`, and returns the longest time that `/livez` took meanwhile, in ms. */
export async function watchLiveness(url: string, work: () => Promise<unknown>): Promise<number> {
  const probe = new Worker(new URL('latency-probe.ts', import.meta.url), { workerData: `${url}/livez` })
  const { promise: slowest, resolve } = Promise.withResolvers<number>()
  const isWarm = once(probe, 'message')
  try {
    await isWarm
    probe.once('message', resolve)
    await work()
    probe.postMessage('end')
    return await slowest
  } finally {
    await probe.terminate()
  }
}
