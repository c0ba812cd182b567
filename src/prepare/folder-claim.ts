/** One server for one data folder: two would write the same append-only file. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PrepareError } from './prepare-error.ts'
import { isAlive } from './private-redis.ts'

/** Throws if a living server has the folder; a claim that a killed one left is taken over. */
export function claimFolder(dataDir: string): { release(): void } {
  const path = join(dataDir, 'server.pid')
  const owner = existsSync(path) ? Number(readFileSync(path, 'utf8')) : Number.NaN
  if (Number.isInteger(owner) && owner !== process.pid && isAlive(owner)) {
    throw new PrepareError(
      `Another server (process ${owner}) uses ${dataDir}: stop it, or set DATA_DIR to another folder`,
    )
  }
  writeFileSync(path, String(process.pid))
  return { release: () => rmSync(path, { force: true }) }
}
