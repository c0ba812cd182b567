/** The private Redis: found again after its server was killed, and closed to other users. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { isProcessAlive, startPrivateRedis } from '../../../src/main/bootstrap/private-redis.ts'
import { createRedisSocket } from '../../../src/main/bootstrap/redis-socket-path.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-private-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const modeOf = (path: string) => statSync(path).mode & 0o777
/** A data folder whose path is too long for a socket in it. */
const far = () => join(folder, 'x'.repeat(60), 'y'.repeat(60))

it('whose data folder has a long path is found again, so that never two write one file', {
  timeout: 60_000,
}, async () => {
  const dataDir = far()
  const module = new URL('../../../src/main/bootstrap/private-redis.ts', import.meta.url).href
  const code = `const { startPrivateRedis } = await import(${JSON.stringify(module)})
    console.log((await startPrivateRedis(${JSON.stringify(dataDir)}, () => {})).url)
    setInterval(() => {}, 1000)`
  const server = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [chunk] = await once(server.stdout, 'data')
  const url = String(chunk).trim()
  const pid = Number(readFileSync(join(dataDir, 'redis', 'redis.pid'), 'utf8'))
  server.kill('SIGKILL')
  await once(server, 'exit')
  expect(isProcessAlive(pid)).toBe(true)
  const next = await startPrivateRedis(dataDir, () => {})
  try {
    expect(next.url).toBe(url)
    expect(isProcessAlive(pid)).toBe(false)
  } finally {
    await next.stop()
  }
  expect(existsSync(dirname(url))).toBe(false)
})

it('keeps its files and its socket from other users, also in a folder that was open', { timeout: 60_000 }, async () => {
  for (const dataDir of [join(folder, 'data'), far()]) {
    mkdirSync(join(dataDir, 'redis'), { recursive: true })
    chmodSync(join(dataDir, 'redis'), 0o755)
    const redis = await startPrivateRedis(dataDir, () => {})
    expect(modeOf(join(dataDir, 'redis'))).toBe(0o700)
    expect(modeOf(dirname(redis.url))).toBe(0o700)
    await redis.stop()
  }
})

it('does not put its socket where somebody else has made a link', () => {
  const redis = join(far(), 'redis')
  mkdirSync(redis, { recursive: true })
  const place = dirname(createRedisSocket(redis).path)
  rmSync(place, { recursive: true })
  symlinkSync(folder, place)
  try {
    expect(() => createRedisSocket(redis)).toThrow(/is not a folder of this user/)
  } finally {
    rmSync(place)
  }
})
