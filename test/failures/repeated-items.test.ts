/** A row of docs/operations/failures.md: an API process is killed after items were handed to a call and before it is answered. */
import { execFileSync } from 'node:child_process'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { Item } from '@reasoning-gym-server/contract/item'
import { expect, it } from 'vitest'
import { until } from '../world.ts'
import { serverOnRedis } from './server.ts'

const LANES = 4
/** More than it takes until one of them is interrupted. */
const MAX_CALLS = 100

it('killed between decision and answer: the repeated call gets the items that were handed to it', {
  timeout: 240_000,
}, async () => {
  const server = await serverOnRedis({ API_PROCESSES: '2' })
  // Not monitor() of ioredis: it fails where the first line comes in one packet with the answer to MONITOR.
  const monitor = connect(server.redis.port, '127.0.0.1').on('error', () => {})
  monitor.write('MONITOR\r\n')
  try {
    await server.call('PUT', '/runs/killed', { tasks: ['gcd', 'chain_sum'] })
    let isKilled = false
    createInterface({ input: monitor }).on('line', (line) => {
      if (isKilled || !/:noted-items:./.test(line)) return
      isKilled = true
      for (const pid of apiPids(server.server.pid)) killIfThere(pid)
    })
    const ask = (key: string) =>
      server
        .call('POST', '/items', { run: 'killed', count: 5 }, { 'idempotency-key': key })
        .catch(() => ({ status: 0, headers: {}, body: undefined }))
    const answers = new Map<string, string>()
    const lane = async (name: number) => {
      for (let k = 0; k < MAX_CALLS && (!isKilled || k < 3); k++) {
        const key = `${name}-${k}`
        const { body } = await until(
          () => ask(key),
          ({ status }) => status === 200,
          60_000,
        )
        answers.set(key, JSON.stringify(body))
      }
    }
    await Promise.all(Array.from({ length: LANES }, (_, name) => lane(name)))
    expect(isKilled).toBe(true)
    const items = [...answers.values()].flatMap((text) => (JSON.parse(text) as { items: Item[] }).items)
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length)
    const leased = await server.redis.client.keys('*:leased-items')
    expect(await server.redis.client.hlen(leased[0] ?? '')).toBe(items.length) // none was handed to nobody
    for (const [key, answer] of answers) expect(JSON.stringify((await ask(key)).body)).toBe(answer)
  } finally {
    monitor.destroy()
    await server.stop()
  }
})

function apiPids(parent: number): number[] {
  return execFileSync('ps', ['-eo', 'pid,ppid,args'])
    .toString()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ppid, ...words]) => ppid === String(parent) && words.some((word) => word.endsWith('api.ts')))
    .map(([pid]) => Number(pid))
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {} // it has just ended
}
