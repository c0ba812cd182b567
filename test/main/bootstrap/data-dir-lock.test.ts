/** One server per data folder, held by a lock that ends with its process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { acquireDataDirLock, getLockHolderPid } from '../../../src/main/bootstrap/data-dir-lock.ts'
import { until } from '../../world.ts'

const LOCK_MODULE = join(import.meta.dirname, '../../../src/main/bootstrap/data-dir-lock.ts')
const IN_USE = /^Another server \(process \d+\) uses .*: stop it, or set DATA_DIR to another folder$/

let folder: string
let children: ChildProcess[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-lock-'))
  children = []
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** The command of a process that takes the folder and keeps it. */
const serverCommand = () => [
  process.execPath,
  '-e',
  `import(${JSON.stringify(LOCK_MODULE)}).then(({ acquireDataDirLock }) => {
    acquireDataDirLock(${JSON.stringify(folder)})
    setInterval(() => {}, 1000)
  })`,
]

/** Resolves to the process ID of the server once it has the folder. */
async function startServer([command = '', ...args]: string[]): Promise<number> {
  children.push(spawn(command, args, { stdio: 'inherit' }))
  return (await until(async () => getLockHolderPid(folder) ?? Number.NaN, Number.isInteger)) as number
}

it('only one server has a folder; its process ID is in server.pid until it ends', async () => {
  const lock = acquireDataDirLock(folder)
  expect(readFileSync(join(folder, 'server.pid'), 'utf8')).toBe(String(process.pid))
  expect(getLockHolderPid(folder)).toBe(process.pid)
  expect(() => acquireDataDirLock(folder)).toThrow(IN_USE)
  lock.release()
  expect(existsSync(join(folder, 'server.pid'))).toBe(false)
  expect(getLockHolderPid(folder)).toBeUndefined()
  acquireDataDirLock(folder).release()
})

it('a second server is told at once which process has the folder', async () => {
  const pid = await startServer(serverCommand())
  const startedAt = performance.now()
  expect(() => acquireDataDirLock(folder)).toThrow(`(process ${pid})`)
  expect(performance.now() - startedAt).toBeLessThan(1000)
})

it('a server that was killed leaves the folder free', async () => {
  const pid = await startServer(serverCommand())
  process.kill(pid, 'SIGKILL')
  await once(children[0] as ChildProcess, 'exit')
  expect(readFileSync(join(folder, 'server.pid'), 'utf8')).toBe(String(pid))
  acquireDataDirLock(folder).release()
})

it('so does a killed server whose parent never collects it', async () => {
  const command = serverCommand().map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  const pid = await startServer(['sh', '-c', `${command.join(' ')} & exec sleep 1000`])
  process.kill(pid, 'SIGKILL')
  await until(
    async () => readFileSync(`/proc/${pid}/stat`, 'utf8'),
    (stat) => / Z /.test(stat),
  )
  acquireDataDirLock(folder).release()
})

it('a process ID that a killed server left says nothing, whoever has it now', () => {
  writeFileSync(join(folder, 'server.pid'), String(process.ppid))
  expect(getLockHolderPid(folder)).toBeUndefined()
  acquireDataDirLock(folder).release()
})
