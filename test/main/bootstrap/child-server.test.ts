/** A temporary server leaves nothing in the folder for temporary files. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { getFreePort, startChildServer } from '../../../src/main/bootstrap/child-server.ts'
import { listProcesses } from '../../../verification/support/processes.ts'
import { start } from '../../cli/command-line.ts'
import { until } from '../../world.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-temporary-'))
  vi.stubEnv('TMPDIR', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const list = async () => readdirSync(folder)

it('when it cannot start', async () => {
  await expect(startChildServer({ LOG_LEVEL: 'wrong' })).rejects.toThrow('exited during startup')
  expect(await list()).toEqual([])
})

it('when a signal ends it during its start, which is noticed at once', async () => {
  const env = { REDIS_URL: 'redis://127.0.0.1:9' } // which it waits for, however late the signal comes
  const starting = expect(startChildServer(env)).rejects.toThrow('exited during startup')
  const { pid } = await until(
    async () => listProcesses().find(({ ppid, args }) => ppid === process.pid && args.includes('serve.ts')),
    (found) => found !== undefined,
  ).then((found) => found ?? { pid: 0 })
  process.kill(pid, 'SIGKILL')
  await starting
  await until(list, (names) => names.length === 0)
})

it('when the reader of its command closes the pipe', async () => {
  const env = { REASONING_GYM_URL: '', PORT: String(await getFreePort()) }
  const command = start(['items', '--task', 'gcd', '--count', '2000'], { env })
  command.process.stdout?.once('data', () => command.process.stdout?.destroy())
  expect(await command.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('a temporary one') })
  await until(list, (names) => names.length === 0, 30_000)
})
