/** Who has a data folder: told by the process itself, not by its number alone. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { acquireDataDirLock, getLockHolderPid } from '../../../src/main/bootstrap/data-dir-lock.ts'
import { getProcessIdentity, type ProcessIdentity } from '../../../src/main/bootstrap/process-identity.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rgs-claim-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const here = (pid: number) => getProcessIdentity(pid)
const elsewhere = (pid: number) => ({ ...getProcessIdentity(pid), world: 'another boot pid:[1]' })
/** What a killed server leaves: its claim, without who would touch it. */
function leave(of: ProcessIdentity, ageMs = 0): void {
  writeFileSync(join(folder, 'server.pid'), String(of.pid))
  writeFileSync(join(folder, 'server.claim'), JSON.stringify(of))
  const at = new Date(Date.now() - ageMs)
  utimesSync(join(folder, 'server.claim'), at, at)
}
const REFUSED = /^Another server \(process \d+\) uses .*: stop it, or set DATA_DIR to another folder$/

it('is one server; its number alone is in server.pid, and nothing is left when it ends', async () => {
  const claim = await acquireDataDirLock(folder, here(process.ppid))
  expect(readFileSync(join(folder, 'server.pid'), 'utf8')).toBe(String(process.ppid))
  expect(getLockHolderPid(folder)).toBe(process.ppid)
  await expect(acquireDataDirLock(folder)).rejects.toThrow(REFUSED)
  claim.release()
  for (const name of ['server.pid', 'server.claim']) expect(existsSync(join(folder, name))).toBe(false)
  ;(await acquireDataDirLock(folder)).release()
})

it('is not another program that has the number of a killed server by now', async () => {
  leave({ ...here(process.ppid), started: '1' })
  expect(getLockHolderPid(folder)).toBeUndefined()
  ;(await acquireDataDirLock(folder)).release()
})

it('is nobody where the process has ended', async () => {
  const ended = Number(execFileSync('sh', ['-c', 'echo $$']).toString())
  leave(here(ended))
  ;(await acquireDataDirLock(folder)).release()
})

it.each([
  [['src/main/serve.ts'], true],
  [['--flag', '/srv/gym/src/serve.ts'], true],
  [['/usr/bin/reasoning-gym-server', 'serve', '--port', '9000'], true],
  [['/usr/bin/reasoning-gym-server', 'worker'], false],
  [['/srv/observe.ts'], false],
])('without a claim is who has the number and was started like a server: %j is, %j', async (words, ours) => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', ...words])
  try {
    await once(other, 'spawn')
    writeFileSync(join(folder, 'server.pid'), String(other.pid))
    expect(getLockHolderPid(folder)).toBe(ours ? other.pid : undefined)
    if (ours) await expect(acquireDataDirLock(folder)).rejects.toThrow(REFUSED)
    else (await acquireDataDirLock(folder)).release()
  } finally {
    other.kill()
  }
})

it('is a server of another container as long as it touches its claim, though it has the same number', async () => {
  const other = await acquireDataDirLock(folder, elsewhere(process.pid), 500)
  await expect(acquireDataDirLock(folder, here(process.pid), 2_000)).rejects.toThrow(REFUSED)
  expect(getLockHolderPid(folder)).toBe(process.pid)
  other.release()
})

it('is who took it over, also when the one before wakes up and ends', async () => {
  const late = await acquireDataDirLock(folder, here(process.ppid))
  leave(elsewhere(process.pid))
  late.release()
  expect(getLockHolderPid(folder)).toBe(process.pid)
})

it('is nobody where a container was killed: its claim is waited out once, and an old one not at all', async () => {
  leave(elsewhere(process.ppid))
  ;(await acquireDataDirLock(folder, here(process.pid), 300)).release()
  leave(elsewhere(process.ppid), 60_000)
  const started = performance.now()
  ;(await acquireDataDirLock(folder)).release()
  expect(performance.now() - started).toBeLessThan(5_000)
})
