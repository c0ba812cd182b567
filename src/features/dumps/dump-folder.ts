/** The folder of dump files on this machine. A file appears under its name completely or not at all. */
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { parseDumpFileName } from '@reasoning-gym-server/contract/dump'
import { isProcessAlive } from '../../platform/process-state.ts'

/** The steps of a write, in order. A test stops the process at each of them. */
export type WriteStep =
  | 'opened'
  | 'partially_written'
  | 'written'
  | 'synced'
  | 'claimed'
  | 'renamed'
  | 'directory_synced'
export type OnWriteStep = (step: WriteStep) => Promise<void> | void

/** Time after which a partial file of another machine counts as abandoned. */
const STALE_PART_MS = 60 * 60 * 1000
const ID_FILE = '.folder-id'
const PART_FILE_PATTERN = /\.([^.]*)\.(\d+)\.([0-9a-f]{8})-\d+\.part$/

export class DumpFolder {
  readonly path: string
  readonly node = hostname()
  /** Part of the names of partial files, because an earlier process may have had the same PID. */
  readonly #instanceId = randomUUID().slice(0, 8)
  #id: string | undefined
  #attempts = 0

  constructor(dataDir: string) {
    this.path = join(dataDir, 'data_dumps')
  }

  /**
   * Returns the ID of the folder. Machines that share a folder see the same ID. Creates the folder, also if it was
   * deleted since; a new folder keeps the ID, so that all processes still recognize it and the list of its files.
   */
  async getOrCreateId(): Promise<string> {
    const there = await stat(join(this.path, ID_FILE)).catch(() => undefined)
    if (this.#id === undefined || !there) this.#id = await this.#createId(this.#id ?? randomUUID())
    return this.#id
  }

  async getId(): Promise<string | undefined> {
    this.#id ??= (await readFile(join(this.path, ID_FILE), 'utf8').catch(() => '')) || undefined
    return this.#id
  }

  /**
   * Writes a partial file, syncs it, and renames it if `mayAppear` allows it. Returns false if it does not. A repeated
   * write replaces the file with the same bytes. Gives up on the first error and leaves nothing behind.
   */
  async writeFile(
    name: string,
    chunks: AsyncIterable<Buffer>,
    mayAppear: () => Promise<boolean>,
    onStep: OnWriteStep,
  ): Promise<boolean> {
    await this.getOrCreateId()
    this.#attempts += 1
    const partPath = join(this.path, `.${name}.${this.#writerTag()}-${this.#attempts}.part`)
    try {
      const file = await open(partPath, 'wx')
      try {
        await onStep('opened')
        let isPartial = false
        for await (const chunk of chunks) {
          await file.appendFile(chunk)
          if (!isPartial) await onStep('partially_written')
          isPartial = true
        }
        await onStep('written')
        await file.sync()
        await onStep('synced')
      } finally {
        await file.close()
      }
      if (!(await mayAppear())) {
        await unlink(partPath)
        return false
      }
      await onStep('claimed')
      await rename(partPath, join(this.path, name))
    } catch (error) {
      await rm(partPath, { force: true }).catch(() => {}) // deleted later if the disk is full
      throw error
    }
    await onStep('renamed')
    await this.#syncDirectory()
    await onStep('directory_synced')
    return true
  }

  async listFileNames(): Promise<string[]> {
    const names = await readdir(this.path).catch(() => [])
    return names.filter((name) => parseDumpFileName(name))
  }

  /** Returns undefined if the file is not in this folder, and throws if that cannot be found out. A valid name contains no path. */
  async getFile(name: string): Promise<{ path: string; bytes: number; createdAt: Date } | undefined> {
    if (!parseDumpFileName(name)) return undefined
    const path = join(this.path, name)
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    return found?.isFile() ? { path, bytes: found.size, createdAt: found.mtime } : undefined
  }

  async deleteFile(name: string): Promise<void> {
    if (parseDumpFileName(name)) await rm(join(this.path, name), { force: true })
  }

  async deleteLeftoverParts(): Promise<void> {
    for (const name of await readdir(this.path).catch(() => [])) {
      const [, node, pid, instanceId] = PART_FILE_PATTERN.exec(name) ?? []
      if (pid === undefined) continue
      const path = join(this.path, name)
      const alive = Number(pid) === process.pid ? instanceId === this.#instanceId : isProcessAlive(Number(pid))
      const found = await stat(path).catch(() => undefined)
      const stale = node !== sanitizeNodeName(this.node) && Date.now() - (found?.mtimeMs ?? Date.now()) > STALE_PART_MS
      if ((node === sanitizeNodeName(this.node) && !alive) || stale) await rm(path, { force: true }).catch(() => {})
    }
  }

  #writerTag(): string {
    return `${sanitizeNodeName(this.node)}.${process.pid}.${this.#instanceId}`
  }

  /** Gives the folder the ID unless it has one. Returns the folder's ID. */
  async #createId(id: string): Promise<string> {
    await mkdir(this.path, { recursive: true })
    const file = join(this.path, ID_FILE)
    const tempFile = `${file}.${randomUUID()}`
    try {
      await writeFile(tempFile, id)
      await link(tempFile, file).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
    } finally {
      // otherwise, a full disk would get one more file with each attempt
      await rm(tempFile, { force: true }).catch(() => {})
    }
    return readFile(file, 'utf8')
  }

  async #syncDirectory(): Promise<void> {
    const folder = await open(this.path, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  }
}

function sanitizeNodeName(node: string): string {
  return node.replaceAll('.', '-')
}
