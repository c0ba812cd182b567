/** The private Redis: found again after its server was killed, never started twice, and closed to other users. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest'
import { startPrivateRedis } from '../../../../src/main/bootstrap/redis/private-redis.ts'
import {
  askRedis,
  countRedisKeys,
  createRedisSocket,
  findRedisProcess,
  getRedisPidFile,
  requestRedisShutdown,
  resolveRedisBinary,
  stopOrphanedRedis,
} from '../../../../src/main/bootstrap/redis/redis-process.ts'
import { isProcessAlive } from '../../../../src/platform/process-state.ts'
import { until } from '../../../world.ts'

let folder: string
let servers: ChildProcess[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-private-'))
  servers = []
})
afterEach(() => {
  for (const server of servers) server.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const ignore = () => {}
const modeOf = (path: string) => statSync(path).mode & 0o777
/** A data folder whose path is too long for a socket in it. */
const far = () => join(folder, 'x'.repeat(60), 'y'.repeat(60))

const MODULE = new URL('../../../../src/main/bootstrap/redis/private-redis.ts', import.meta.url).href

/** A server that has a private Redis and is killed: the Redis is left running. */
async function leaveRedis(dataDir: string, parentCommand: string[] = []): Promise<{ url: string; pid: number }> {
  const code = `const { startPrivateRedis } = await import(${JSON.stringify(MODULE)})
    const { url } = await startPrivateRedis(${JSON.stringify(dataDir)}, () => {})
    console.log(JSON.stringify({ url, server: process.pid }))
    setInterval(() => {}, 1000)`
  const [command, ...args] = [...parentCommand, process.execPath, '--input-type=module', '-e', code]
  const started = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  servers.push(started)
  const [chunk] = (await once(started.stdout, 'data')) as [Buffer]
  const { url, server } = JSON.parse(chunk.toString()) as { url: string; server: number }
  process.kill(server, 'SIGKILL')
  await until(
    async () => isProcessAlive(server),
    (alive) => !alive,
  )
  const pid = Number(readFileSync(join(dataDir, 'redis', 'redis.pid'), 'utf8'))
  expect(isProcessAlive(pid)).toBe(true)
  return { url, pid }
}

it('whose data folder has a long path is found again, so that never two write one file', async () => {
  const dataDir = far()
  const { url, pid } = await leaveRedis(dataDir)
  const next = await startPrivateRedis(dataDir, () => {})
  try {
    expect(next.url).toBe(url)
    expect(isProcessAlive(pid)).toBe(false)
  } finally {
    await next.stop()
  }
  expect(existsSync(dirname(url))).toBe(false)
})

it('that is stuck is waited for by name, and never started a second time', async () => {
  const { url, pid } = await leaveRedis(folder)
  process.kill(pid, 'SIGSTOP')
  const lines: string[] = []
  const starting = startPrivateRedis(folder, (line) => lines.push(line))
  await until(
    async () => lines,
    ({ length }) => length > 0,
  )
  expect(lines[0]).toMatch(`process ${pid} (suspended), which an earlier server left on ${folder}`)
  expect(lines[0]).toMatch(`kill -9 ${pid}`)
  expect(await findRedisProcess(join(folder, 'redis'), url)).toBe(pid)
  process.kill(pid, 'SIGCONT')
  const next = await starting
  try {
    expect(isProcessAlive(pid)).toBe(false)
    expect(await findRedisProcess(join(folder, 'redis'), url)).not.toBe(pid)
  } finally {
    await next.stop()
  }
})

it('that stays stuck is refused by name when the deadline is over', async () => {
  const { url, pid } = await leaveRedis(folder)
  process.kill(pid, 'SIGSTOP')
  try {
    await expect(stopOrphanedRedis(join(folder, 'redis'), url, ignore, 1000)).rejects.toThrow(
      `The data directory is still used by a redis-server, process ${pid} (suspended)`,
    )
    expect(isProcessAlive(pid)).toBe(true)
  } finally {
    process.kill(pid, 'SIGKILL')
  }
})

it('that loads its data says how much it has loaded, then how many keys it has, and ends when it is asked to', async () => {
  const KEYS = 1000
  const socket = join(folder, 'redis.sock')
  const binary = await resolveRedisBinary(ignore)
  const start = (...options: string[]) => {
    const args = ['--port', '0', '--unixsocket', socket, '--dir', folder, '--rdbcompression', 'no', ...options]
    const redis = spawn(binary, args, { stdio: 'ignore' })
    servers.push(redis)
    return once(redis, 'exit')
  }
  const [first, isReady] = [start(), ({ kind }: { kind: string }) => kind === 'ready']
  await until(() => askRedis(socket), isReady)
  const redis = new Redis(socket)
  await redis.mset(Object.fromEntries(Array.from({ length: KEYS }, (_, k) => [`key-${k}`, 'x'.repeat(20_000)])))
  await redis.save()
  redis.disconnect()
  await requestRedisShutdown(socket)
  await first
  expect(await askRedis(socket)).toEqual({ kind: 'silent' })
  expect(await countRedisKeys(socket)).toBeUndefined()

  const second = start('--key-load-delay', '7000') // microseconds: it loads for seven seconds
  const answers: Awaited<ReturnType<typeof askRedis>>[] = []
  await until(async () => {
    const answer = await askRedis(socket)
    answers.push(answer)
    return answer
  }, isReady)
  const progress = answers.flatMap((answer) => (answer.kind === 'loading' ? [answer] : []))
  expect(progress.some(({ loadedBytes, totalBytes }) => loadedBytes > 0 && loadedBytes < totalBytes)).toBe(true)
  expect(await countRedisKeys(socket)).toBe(KEYS)
  await requestRedisShutdown(socket)
  await second
})

it('that was killed is gone, although nobody collects it', async () => {
  const { url, pid } = await leaveRedis(folder, [inject('python'), '-c', PARENT_THAT_NEVER_WAITS])
  process.kill(pid, 'SIGKILL')
  await until(
    async () => readFileSync(`/proc/${pid}/stat`, 'utf8'),
    (stat) => stat.includes(') Z '),
  )
  expect(isProcessAlive(pid)).toBe(false)
  await stopOrphanedRedis(join(folder, 'redis'), url, ignore, 0)
})

/** It becomes the parent of what its descendants leave, as process 1 does, and never waits for them. */
const PARENT_THAT_NEVER_WAITS = `
import ctypes, signal, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
subprocess.Popen(sys.argv[1:])
signal.pause()
`

it('whose process ID is not in its file, as a full disk leaves it, is found by its socket', async () => {
  const { pid } = await leaveRedis(folder)
  writeFileSync(join(folder, 'redis', 'redis.pid'), '')
  const next = await startPrivateRedis(folder, ignore)
  try {
    expect(isProcessAlive(pid)).toBe(false)
    expect(Number(readFileSync(join(folder, 'redis', 'redis.pid'), 'utf8'))).toBeGreaterThan(0)
  } finally {
    await next.stop()
    if (isProcessAlive(pid)) process.kill(pid, 'SIGKILL')
  }
})

it('whose process ID another process has now is gone', async () => {
  mkdirSync(join(folder, 'redis'))
  writeFileSync(join(folder, 'redis', 'redis.pid'), String(process.pid))
  expect(await findRedisProcess(join(folder, 'redis'), join(folder, 'none.sock'))).toBeUndefined()
  const redis = await startPrivateRedis(folder, ignore)
  expect(await findRedisProcess(join(folder, 'redis'), redis.url)).toBeGreaterThan(0)
  await redis.stop()
})

it('keeps its files and its socket from other users, also in a folder that was open', async () => {
  for (const dataDir of [join(folder, 'data'), far()]) {
    mkdirSync(join(dataDir, 'redis'), { recursive: true })
    chmodSync(join(dataDir, 'redis'), 0o755)
    const redis = await startPrivateRedis(dataDir, () => {})
    expect(modeOf(join(dataDir, 'redis'))).toBe(0o700)
    expect(modeOf(dirname(redis.url))).toBe(0o700)
    await redis.stop()
  }
})

it('has a socket elsewhere if the bytes of its path are too many', () => {
  const data = join(folder, 'ü'.repeat(50))
  mkdirSync(data)
  const { path, remove } = createRedisSocket(data)
  expect(Buffer.byteLength(path)).toBeLessThan(100)
  remove()
})

it('does not put its socket where somebody else has made a link', () => {
  const redis = join(far(), 'redis')
  mkdirSync(redis, { recursive: true })
  const place = dirname(createRedisSocket(redis).path)
  rmSync(place, { recursive: true })
  symlinkSync(folder, place)
  try {
    expect(() => createRedisSocket(redis)).toThrow(/is not a folder that belongs to this user/)
  } finally {
    rmSync(place)
  }
})

it('that cannot be started again at once is tried again', async () => {
  const program = join(folder, 'bin', 'redis-server')
  const binary = execFileSync('sh', ['-c', 'command -v "$1"', 'sh', await resolveRedisBinary(ignore)])
    .toString()
    .trim()
  const place = () => symlinkSync(binary, program)
  mkdirSync(dirname(program))
  place()
  vi.stubEnv('PATH', dirname(program)) // where nothing else is, such as the redis-server of this machine
  const lines: string[] = []
  const redis = await startPrivateRedis(folder, (line) => lines.push(line))
  try {
    const readPid = async () => Number(readFileSync(join(folder, 'redis', 'redis.pid'), 'utf8'))
    const first = await readPid()
    rmSync(program)
    process.kill(first, 'SIGKILL')
    await until(
      async () => lines.some((line) => line.includes('could not be started')),
      (failed) => failed,
    )
    place()
    await until(readPid, (pid) => pid !== first && isProcessAlive(pid))
  } finally {
    await redis.stop()
    vi.unstubAllEnvs()
  }
})

it('ends with a server that is stopped while it waits for it', async () => {
  const program = join(folder, 'redis-server')
  writeFileSync(program, '#!/bin/sh\n[ "$1" = --version ] && echo v=7.2.0 || exec sleep 600\n', { mode: 0o755 })
  const code = `const { startPrivateRedis } = await import(${JSON.stringify(MODULE)})
    await startPrivateRedis(${JSON.stringify(folder)}, () => {})`
  const env = { ...process.env, PATH: `${folder}:/usr/bin:/bin` }
  const server = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit', env })
  servers.push(server)
  const pid = await until(
    async () =>
      Number(
        existsSync(getRedisPidFile(join(folder, 'redis'))) &&
          readFileSync(getRedisPidFile(join(folder, 'redis')), 'utf8'),
      ),
    (found) => found > 0,
  )
  server.kill('SIGTERM')
  expect(await once(server, 'exit')).toEqual([null, 'SIGTERM'])
  await until(
    async () => isProcessAlive(pid),
    (alive) => !alive,
  )
})

it('whose append-only file is damaged says what to run, and that repairs it', async () => {
  const keysOfNextStart = async (write?: string) => {
    const server = await startPrivateRedis(folder, ignore)
    const redis = new Redis(server.url)
    if (write !== undefined) await redis.set(write, 'x')
    const keys = await redis.keys('*')
    redis.disconnect()
    await server.stop()
    return keys
  }
  expect(await keysOfNextStart('one')).toEqual(['one'])
  const files = readdirSync(join(folder, 'redis'), { recursive: true, encoding: 'utf8' })
  const file = join(folder, 'redis', files.find((name) => name.endsWith('.incr.aof')) ?? 'appendonly.aof')
  appendFileSync(file, 'garbage')
  const damaged = readFileSync(file)
  const message = await keysOfNextStart().catch(String)
  const command = /append-only file is damaged, copy .+, then run: (bash -c '.+')\. To use/.exec(String(message))?.[1]
  expect(readFileSync(file)).toEqual(damaged)
  execFileSync('bash', ['-c', command ?? 'false'], { input: 'y\n' })
  expect(await keysOfNextStart()).toEqual(['one'])
})

it('warns if its append-only file is empty where data was, but not at the first start', async () => {
  const start = async () => {
    const warnings: string[] = []
    const redis = await startPrivateRedis(folder, ignore, undefined, (line) => warnings.push(line))
    redis.noteUse()
    await redis.stop()
    return warnings
  }
  expect(await start()).toEqual([])
  rmSync(join(folder, 'redis', 'appendonly.aof'), { force: true })
  rmSync(join(folder, 'redis', 'appendonlydir'), { recursive: true, force: true })
  expect(await start()).toEqual([
    expect.stringMatching(/has held data before, but its append-only file is empty or gone/),
  ])
})
