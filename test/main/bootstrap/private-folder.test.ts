import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFolder, createPrivateFolder, tryAcquireDataDirLock } from '../../../src/main/bootstrap/data-folder.ts'
import { StartupError } from '../../../src/main/bootstrap/startup-report.ts'
import { startChildServer } from '../../../verification/support/with-server.ts'

const ADVICE = 'Set DATA_DIR to a folder that this user can write to'

it('a folder that cannot be used is reported in one line that names DATA_DIR', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-own-'))
  const file = join(folder, 'file')
  writeFileSync(file, '')
  try {
    for (const path of [file, join(file, 'below')]) {
      expect(() => createFolder(path)).toThrow(new StartupError(`${path} is not a folder. ${ADVICE}.`))
      expect(() => createPrivateFolder(path)).toThrow(StartupError)
    }
    expect(() => createFolder('/proc/rgs/data')).toThrow(/^\/proc\/rgs\/data cannot be written/) // Node's own recursion never ends there
    expect(() => createFolder('/sys/rgs')).toThrow(/^\/sys\/rgs cannot be written \(\w+\)\. Set DATA_DIR/)
    expect(() => tryAcquireDataDirLock('/proc')).toThrow(/^\/proc cannot be written \(\w+\)\. Set DATA_DIR/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

/** Only root may mount one. */
const isRoot = process.getuid?.() === 0
it.skipIf(!isRoot)('a full disk, a read-only one and a path that is too long are named', () => {
  const disk = mkdtempSync(join(tmpdir(), 'rgs-small-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk])
  try {
    expect(() => createFolder(join(disk, 'x'.repeat(300)))).toThrow(/ is too long a path\. Set DATA_DIR/)
    expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(1 << 20))).toThrow('ENOSPC')
    expect(() => tryAcquireDataDirLock(disk)).toThrow(`The disk of ${disk} is full. Free space, or set DATA_DIR`)
    rmSync(join(disk, 'filler'))
    execFileSync('mount', ['-o', 'remount,ro', disk])
    expect(() => createFolder(disk)).toThrow(`${disk} is on a read-only file system. Set DATA_DIR`)
  } finally {
    execFileSync('umount', ['-l', disk])
    rmSync(disk, { recursive: true })
  }
})

it('a server that is given a file as its folder says so, without a stack', async () => {
  const output = await startChildServer({ DATA_DIR: import.meta.filename }).then(
    async (server) => `it started${await server.stop()}`,
    (error: Error) => error.message,
  )
  expect(output).toContain(`reasoning-gym-server: ${import.meta.filename} is not a folder. ${ADVICE}.`)
  expect(output.trim().split('\n')).toHaveLength(2) // the line, below that of who started it
})
