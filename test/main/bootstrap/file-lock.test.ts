/** A lock file that this user cannot write is an error, never a lock. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tryLockFile } from '../../../src/main/bootstrap/file-lock.ts'
import { createOrdinaryUser } from './ordinary-user.ts'

it('throws what the system says if the folder is not there or is a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rgs-lock-'))
  try {
    expect(() => tryLockFile(join(folder, 'none', 'lock'))).toThrow(/ENOENT/)
    writeFileSync(join(folder, 'file'), '')
    expect(() => tryLockFile(join(folder, 'file', 'lock'))).toThrow(/ENOTDIR/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('two processes that may only read the lock file do not both get the lock', (context) => {
  const user = createOrdinaryUser()
  if ('reason' in user) return context.skip(user.reason)
  const folder = user.createFolder()
  try {
    const lock = join(folder, 'lock')
    writeFileSync(lock, '') // by root; the folder is theirs
    const code = `const { tryLockFile } = await import(process.argv[1]); tryLockFile(process.argv[2])`
    const module = join(import.meta.dirname, '../../../src/main/bootstrap/file-lock.ts')
    const [command, ...args] = user.command([process.execPath, '--input-type=module', '-e', code, module, lock])
    const { status, stderr } = spawnSync(command, args)
    expect(String(stderr)).toMatch(/EACCES/)
    expect(status).toBe(1)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
