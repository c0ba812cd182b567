/**
 * Finds dump files in the folder that Redis does not know and registers them. Redis may have lost them, or they were
 * copied here.
 */
import { createReadStream } from 'node:fs'
import { readLines } from '@reasoning-gym-server/codec/json-lines'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import type { DumpFolder } from './dump-folder.ts'
import { parseDumpFileName } from './file-name.ts'
import type { DumpedRunRef, DumpRepository } from './repository.ts'

/** Returns how many files were new. */
export async function registerUnknownDumpFiles(book: DumpRepository, folder: DumpFolder): Promise<number> {
  const names = await folder.listFileNames()
  if (names.length === 0) return 0
  const unknown = await listUnknownFileNames(book, names)
  let adopted = 0
  for (const name of unknown) {
    const [place, found] = [parseDumpFileName(name), await folder.getFile(name)]
    if (!place || !found) continue
    const about = await readFileSummary(found.path)
    if (!about) continue
    const { kind, uuid } = place
    const { bytes, createdAt } = found
    const noted = { name, kind, ...about, bytes, created_at: createdAt.toISOString(), node: folder.node }
    await book.registerFile({ run: about.run, uuid }, { ...noted, folder: await folder.getOrCreateId() })
    adopted += 1
  }
  return adopted
}

/**
 * Lists the files that Redis does not know. A file is first recorded as unwritten, then as written. Reading the two
 * records in this order never reports a file that is being written as unknown.
 */
async function listUnknownFileNames(book: DumpRepository, names: string[]): Promise<string[]> {
  const byUuid = new Map<string, DumpedRunRef>((await book.listRuns('all')).map((dumped) => [dumped.uuid, dumped]))
  const places = Map.groupBy(names, (name) => parseDumpFileName(name)?.uuid ?? '')
  const unknown: string[] = []
  for (const [uuid, some] of places) {
    const dumped = byUuid.get(uuid)
    if (!dumped) {
      unknown.push(...some)
      continue
    }
    const unwritten = new Set(
      (await book.listUnwrittenBefore(dumped, Number.MAX_SAFE_INTEGER)).map(({ kind, number }) => `${kind}/${number}`),
    )
    const noted = new Set((await book.listFiles(dumped)).map(({ name }) => name))
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
