/** Rows of docs/operations/failures.md: the private Redis is killed, the server is ended under load, its disk is full. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'
import { until } from '../world.ts'
import { clientOf } from './server.ts'

const SLOW = { timeout: 240_000 }
const SMALL = { API_PROCESSES: '1', WORKERS: '1', PYTHON_WORKERS: '1' }
/** Only root may mount a file system. */
const isRoot = process.getuid?.() === 0

let server: ChildServer
/** A file system of 48 MB with the server's data, or a folder. */
const disk = mkdtempSync(join(tmpdir(), 'rgs-disk-'))
beforeAll(async () => {
  if (isRoot) execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', disk])
  const dataDir = join(disk, 'data')
  mkdirSync(dataDir)
  server = await startChildServer({ ...SMALL, DATA_DIR: dataDir })
}, 300_000)
afterAll(async () => {
  await server.stop()
  if (isRoot) execFileSync('umount', ['-l', disk])
  rmSync(disk, { recursive: true, force: true })
})

it('the private Redis killed: it is restarted, and nothing accepted is lost', SLOW, async () => {
  const client = clientOf(server.url)
  expect((await client.post('killed', 'before', 'wait=30')).body.status).toBe('scored')
  expect([200, 202]).toContain((await client.post('killed', 'queued')).status)
  process.kill(Number(readFileSync(join(server.dataDir, 'redis', 'redis.pid'), 'utf8')), 'SIGKILL')
  await client.postUntilScored('killed', 'after')
  await client.expectKept('killed', ['before', 'queued', 'after'])
  expect(server.output()).toContain('the private Redis ended')
})

it.skipIf(!isRoot)('disk full: posts get 503, and with space all goes on by itself', SLOW, async () => {
  const client = clientOf(server.url)
  expect((await client.post('disk', 'before', 'wait=30')).body.status).toBe('scored')
  const filler = join(disk, 'filler')
  fill(filler)
  const accepted = ['before']
  const refused = await until(
    async () => {
      const group = `g${accepted.length}`
      const answer = await client.post('disk', group).catch(() => undefined)
      if (answer && answer.status < 300) accepted.push(group)
      return answer
    },
    (answer) => answer?.status === 503,
    60_000,
  )
  expect(['redis_unavailable', 'redis_full']).toContain(refused?.body.code)
  expect((await client.call('GET', '/livez')).status).toBe(200)
  const ready = await until(
    () => client.call('GET', '/readyz'),
    ({ status }) => status === 503,
  )
  expect(ready.body.redis).toMatchObject({ ok: false, detail: expect.any(String) })
  rmSync(filler)
  await client.postUntilScored('disk', 'after')
  await client.expectKept('disk', [...accepted, 'after'])
})

it(
  'ended under load: requests in hand are answered whole, what was accepted is scored after the next start',
  SLOW,
  async () => {
    const client = clientOf(server.url)
    await client.post('load', 'warm', 'wait=30')
    const accepted: string[] = []
    const broken: string[] = []
    let sent = 0
    let ending = false
    const post = async (lane: number) => {
      for (let k = 0; k < 500; k++) {
        const group = `g${lane}-${k}`
        sent++
        const began = ending
        try {
          const { status } = await client.post('load', group)
          if (status === 200 || status === 202) accepted.push(group)
          else broken.push(`${group}: ${status}`)
        } catch (error) {
          if (!began && !isRefusedConnection(error))
            broken.push(`${group}: ${String(error)}, ${String((error as Error).cause)}`)
          return
        }
      }
    }
    const load = Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(post))
    await until(
      async () => accepted.length,
      (count) => count > 40,
    )
    ending = true
    process.kill(server.pid, 'SIGTERM')
    await load
    expect(sent).toBeGreaterThan(40)
    expect(broken).toEqual([])
    const { pid, dataDir } = server
    await until(
      async () => isAlive(pid),
      (alive) => !alive,
      60_000,
    ) // a second signal would end it at once
    server = await startChildServer({ ...SMALL, DATA_DIR: dataDir })
    await clientOf(server.url).expectKept('load', accepted)
  },
)

function fill(path: string): void {
  const block = Buffer.alloc(1 << 16)
  try {
    for (;;) writeFileSync(path, block, { flag: 'a' })
  } catch {
    // full
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The port is closed, or a connection that was idle was: the request was never taken. */
function isRefusedConnection(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : undefined
  return cause?.code === 'ECONNREFUSED'
}
