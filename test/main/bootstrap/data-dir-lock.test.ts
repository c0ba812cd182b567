/** One server per data folder, held by a lock that ends with its process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { acquireDataDirLock, getLockHolderPid } from '../../../src/main/bootstrap/data-folder.ts'
import { until } from '../../world.ts'

const LOCK_MODULE = join(import.meta.dirname, '../../../src/main/bootstrap/data-folder.ts')
const IN_USE = /^Another server \(process \d+\) uses .*\. Stop it, or set DATA_DIR to another folder/
const ignore = () => {}

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
    acquireDataDirLock(${JSON.stringify(folder)}, () => {})
    setInterval(() => {}, 1000)
  })`,
]

/** Resolves to the process ID of the server once it has the folder. */
async function startServer([command = '', ...args]: string[]): Promise<number> {
  children.push(spawn(command, args, { stdio: 'inherit' }))
  return (await until(async () => getLockHolderPid(folder) ?? Number.NaN, Number.isInteger)) as number
}

it('only one server has a folder; its process ID is in server.pid until it ends', async () => {
  const lock = await acquireDataDirLock(folder, ignore)
  expect(readFileSync(join(folder, 'server.pid'), 'utf8')).toBe(String(process.pid))
  expect(getLockHolderPid(folder)).toBe(process.pid)
  await expect(acquireDataDirLock(folder, ignore)).rejects.toThrow(IN_USE)
  lock.release()
  expect(existsSync(join(folder, 'server.pid'))).toBe(false)
  expect(getLockHolderPid(folder)).toBeUndefined()
  ;(await acquireDataDirLock(folder, ignore)).release()
})

it('a second server says at once which process it waits for, and takes the folder when that ends', async () => {
  const pid = await startServer(serverCommand())
  const lines: string[] = []
  const acquired = acquireDataDirLock(folder, (line) => {
    lines.push(line)
    process.kill(pid, 'SIGKILL') // it was just ending
  })
  ;(await acquired).release()
  expect(lines).toEqual([expect.stringContaining(`(process ${pid}) to leave ${folder}: stop it, or set DATA_DIR`)])
})

it('a server that was killed leaves the folder free', async () => {
  const pid = await startServer(serverCommand())
  process.kill(pid, 'SIGKILL')
  await once(children[0] as ChildProcess, 'exit')
  expect(readFileSync(join(folder, 'server.pid'), 'utf8')).toBe(String(pid))
  ;(await acquireDataDirLock(folder, ignore)).release()
})

it('so does a killed server whose parent never collects it', async () => {
  const command = serverCommand().map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  const pid = await startServer(['sh', '-c', `${command.join(' ')} & exec sleep 1000`])
  process.kill(pid, 'SIGKILL')
  await until(
    async () => readFileSync(`/proc/${pid}/stat`, 'utf8'),
    (stat) => / Z /.test(stat),
  )
  ;(await acquireDataDirLock(folder, ignore)).release()
})

it('a process ID that a killed server left says nothing, whoever has it now', async () => {
  writeFileSync(join(folder, 'server.pid'), String(process.ppid))
  expect(getLockHolderPid(folder)).toBeUndefined()
  ;(await acquireDataDirLock(folder, ignore)).release()
})
