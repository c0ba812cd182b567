/**
 * Maintains this process's dump folder: registers files that Redis does not know, because Redis has lost them or they were
 * copied here, and deletes what killed writers left. A local timer runs it, because another worker may have another folder.
 */
import { createReadStream } from 'node:fs'
import { readLines } from '@reasoning-gym-server/codec/json-lines'
import { parseDumpFileName } from '@reasoning-gym-server/contract/dump'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import type { Closable } from '../../platform/closers.ts'
import type { DumpFolder } from './dump-folder.ts'
import type { Dumps } from './dumps.ts'
import type { DumpedRunRef, DumpRepository } from './repository.ts'

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

/** Returns how many files were new. */
async function registerUnknownDumpFiles(repository: DumpRepository, folder: DumpFolder): Promise<number> {
  const names = await folder.listFileNames()
  if (names.length === 0) return 0
  const unknown = await listUnknownFileNames(repository, names)
  let registered = 0
  for (const name of unknown) {
    const key = parseDumpFileName(name)
    const found = await folder.getFile(name)
    const summary = found && (await readFileSummary(found.path))
    if (!key || !summary) continue
    await repository.registerFile(
      { run: summary.run, uuid: key.uuid },
      {
        name,
        kind: key.kind,
        ...summary,
        bytes: found.bytes,
        created_at: found.createdAt.toISOString(),
        node: folder.node,
        folder: await folder.getOrCreateId(),
      },
    )
    registered += 1
  }
  return registered
}

/**
 * Lists the files that Redis does not know. A file is first recorded as unwritten, then as written. Reading the two
 * records in this order never reports a file that is being written as unknown.
 */
async function listUnknownFileNames(repository: DumpRepository, names: string[]): Promise<string[]> {
  const byUuid = new Map<string, DumpedRunRef>(
    (await repository.listRuns('all')).map((dumped) => [dumped.uuid, dumped]),
  )
  const places = Map.groupBy(names, (name) => parseDumpFileName(name)?.uuid ?? '')
  const unknown: string[] = []
  for (const [uuid, some] of places) {
    const dumped = byUuid.get(uuid)
    if (!dumped) {
      unknown.push(...some)
      continue
    }
    const unwritten = new Set(
      (await repository.listUnwrittenBefore(dumped, Number.MAX_SAFE_INTEGER)).map(
        ({ kind, number }) => `${kind}/${number}`,
      ),
    )
    const noted = new Set((await repository.listFiles(dumped)).map(({ name }) => name))
    const isUnknown = (name: string) => {
      const place = parseDumpFileName(name)
      return !noted.has(name) && !unwritten.has(`${place?.kind}/${place?.number}`)
    }
    unknown.push(...some.filter(isUnknown))
  }
  return unknown
}

/** Returns undefined for a file that is not a dump. */
async function readFileSummary(path: string): Promise<{ run: string; groups: number } | undefined> {
  let run: string | undefined
  let groups = 0
  for await (const line of readLines(createReadStream(path))) {
    groups += 1
    run ??= parseRunName(line)
    if (run === undefined) return undefined
  }
  return run === undefined ? undefined : { run, groups }
}

function parseRunName(line: string): string | undefined {
  try {
    return RunName.parse((JSON.parse(line) as { run?: unknown }).run)
  } catch {
    return undefined
  }
}
