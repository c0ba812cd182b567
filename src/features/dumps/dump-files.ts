/** The dump files on disk: lists, finds and deletes them. Other machines may have a folder of their own. */

import { type DumpFile, parseDumpFileName } from '@reasoning-gym-server/contract/dump'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Logger } from 'pino'
import type { DumpFolder } from './dump-folder.ts'
import type { WrittenFile } from './records.ts'
import type { DumpedRunRef, DumpRepository } from './repository.ts'

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
    const listed = await Promise.all(
      runs.map(async (dumped) => ({ dumped, files: await repository.listFiles(dumped) })),
    )
    // read after the records
    const id = await folder.getId()
    const names = new Set(await folder.listFileNames())
    const files: DumpFile[] = []
    for (const { dumped, files: some } of listed) {
      for (const file of some) {
        const { folder: folderId, ...rest } = file
        const here = folderId === id
        if (here && !names.has(file.name)) await repository.deleteFile(dumped, file)
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
    throw new ServiceError('unknown_dump', `The dump ${name} was deleted from the data directory`, {
      missing: { kind: 'dump', name },
    })
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
