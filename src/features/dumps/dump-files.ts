/**
 * The dump files on disk: lists, finds and deletes them, registers those that Redis does not know, and deletes what killed
 * writers left. Other machines may have a folder of their own.
 */

import { createReadStream } from 'node:fs'
import { readLines } from '@reasoning-gym-server/codec/json-lines'
import { type DumpFile, parseDumpFileName } from '@reasoning-gym-server/contract/dump'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { RunName } from '@reasoning-gym-server/contract/rollout'
import pMap from 'p-map'
import type { Logger } from 'pino'
import type { Closable } from '../../platform/closers.ts'
import { CONCURRENT_RUN_READS } from '../runs/run-index.ts'
import type { DumpFolder } from './dump-folder.ts'
import type { Dumps } from './dumps.ts'
import type { DumpedRunRef, DumpRepository, WrittenFile } from './repository.ts'

interface DumpFilesDeps {
  repository: DumpRepository
  folder: DumpFolder
  log: Logger
}

export class DumpFiles {
  readonly #deps: DumpFilesDeps

  constructor(deps: DumpFilesDeps) {
    this.#deps = deps
  }

  /** Lists all files, oldest first. Deletes the records of files that were deleted from this folder by hand. */
  async listFiles(run?: string): Promise<DumpFile[]> {
    const { repository, folder } = this.#deps
    const runs = (await repository.listRuns('all')).filter((dumped) => run === undefined || dumped.run === run)
    const listed = await pMap(runs, async (dumped) => ({ dumped, files: await repository.listFiles(dumped) }), {
      concurrency: CONCURRENT_RUN_READS,
    })
    // read after the records
    const id = await folder.getId()
    const names = new Set(await folder.listFileNames())
    const files: DumpFile[] = []
    for (const { dumped, files: some } of listed) {
      for (const file of some) {
        const { folder: folderId, ...rest } = file
        const here = folderId === id
        const isGone = here && !names.has(file.name) && !(await folder.getFile(file.name))
        if (isGone) await repository.deleteFile(dumped, file)
        else files.push({ ...rest, here })
      }
    }
    return files.toSorted((a, b) => compareStrings(a.created_at, b.created_at) || compareStrings(a.name, b.name))
  }

  /** Returns a file that is in this folder. Throws `unknown_dump` and `dump_elsewhere`. */
  async requireFile(name: string): Promise<WrittenFile & { path: string }> {
    const { repository, folder } = this.#deps
    const { file, dumped } = await this.#requireWrittenFile(name)
    const found = await folder.getFile(name)
    if (found) return { ...file, path: found.path }
    await repository.deleteFile(dumped, file)
    throw new ServiceError(
      'unknown_dump',
      `The dump ${name} was deleted from the data directory. GET /dumps lists the dumps.`,
      {
        missing: { kind: 'dump', name },
      },
    )
  }

  /** Throws the same errors as `requireFile`. */
  async deleteFile(name: string): Promise<void> {
    const { repository, folder, log } = this.#deps
    const { file, dumped } = await this.#requireWrittenFile(name)
    await folder.deleteFile(name)
    await repository.deleteFile(dumped, file)
    log.info({ run: file.run, file: name }, 'dump file deleted')
  }

  async #requireWrittenFile(name: string): Promise<{ file: WrittenFile; dumped: DumpedRunRef }> {
    const { repository, folder } = this.#deps
    const uuid = parseDumpFileName(name)?.uuid
    const dumped = (await repository.listRuns('all')).find((one) => one.uuid === uuid)
    const file = dumped && (await repository.getFile(dumped, name))
    if (!file)
      throw new ServiceError('unknown_dump', `There is no dump ${name}. GET /dumps lists the dumps.`, {
        missing: { kind: 'dump', name },
      })
    if (file.folder !== (await folder.getId())) {
      throw new ServiceError(
        'dump_elsewhere',
        `The dump ${name} is on the node ${file.node}, in its folder data_dumps. Request it there.`,
      )
    }
    return { file, dumped }
  }
}

function compareStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

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

async function registerUnknownDumpFiles(repository: DumpRepository, folder: DumpFolder): Promise<void> {
  const names = await folder.listFileNames()
  if (names.length === 0) return
  const unknown = await listUnknownFileNames(repository, names)
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
  }
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
