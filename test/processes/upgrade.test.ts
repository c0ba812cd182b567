import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { getFreePort } from '../../verification/support/with-server.ts'

it('a data folder without a storage format is refused at start with what to do', { timeout: 90_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'upgrade-'))
  try {
    mkdirSync(join(folder, 'redis'), { mode: 0o700 })
    // Written by commit 7d6d9f4: a run with a group.
    const log = gunzipSync(readFileSync('test/fixtures/unversioned-data.aof.gz'))
    writeFileSync(join(folder, 'redis', 'appendonly.aof'), log)
    const env = { ...process.env, DATA_DIR: folder, PORT: String(await getFreePort()), REDIS_URL: undefined }
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, ['src/main/serve.ts'], { env, timeout: 60_000 }, (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      )
    })
    expect(output.match(/The stored data has an unknown format, but this server reads format \d\./g)).toHaveLength(1) // not per process
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
})
