/**
 * Maintains this process's dump folder: registers files that Redis does not know, and deletes what killed writers left.
 * A local timer runs it, because another worker may have another folder.
 */
import type { Closable } from '../../../platform/closers.ts'
import type { Dumps } from '../dumps.ts'
import { registerUnknownDumpFiles } from '../register-unknown-files.ts'

const CLEANUP_INTERVAL_MS = 30_000

export function startDumpFolderUpkeep(dumps: Dumps, onError: (error: unknown) => void): Closable {
  const cleanUp = () => dumps.folder.deleteLeftoverParts().catch(onError)
  const starting = registerUnknownDumpFiles(dumps.repository, dumps.folder).catch(onError).then(cleanUp)
  const timer = setInterval(() => void cleanUp(), CLEANUP_INTERVAL_MS)
  return {
    async close() {
      clearInterval(timer)
      await starting
    },
  }
}
