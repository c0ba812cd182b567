/** Creates a Python environment under a temporary name and renames it when it is complete. */
import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PythonModuleError, runTetheredPython } from '../child-lifetime.ts'
import { StartupError } from '../startup-error.ts'
import { type ReportProgress, withWaitNotice } from '../wait-notice.ts'
import type { RequirementsFile, VenvFiles } from './venv-files.ts'

/** Folders with this prefix belong to the process that has the lock. */
const WORK_PREFIX = '.venv-work-'
const FULL_DISK_BYTES = 2 ** 20
const MAX_PROGRESS_CHARS = 60

/** Replaces an existing environment. The caller holds the lock. If the start is killed, the next one uses nothing of it. */
export async function buildVenv(files: VenvFiles, python: string, report: ReportProgress): Promise<void> {
  removeWorkFolders(files)
  const made = join(files.root, WORK_PREFIX + randomUUID())
  try {
    mkdirSync(made)
    await createBareVenv(python, made, report)
    await installPackages(files, made, 'requirements.txt', report)
    setHome(made, files.venv)
    replaceFolder(files, made)
  } catch (error) {
    throw explainFullDisk(files, error) // before the space is freed
  } finally {
    removeWorkFolders(files)
  }
}

/** Removes what killed processes left. */
export function hasWorkFolders({ root }: VenvFiles): boolean {
  return readdirSync(root).some((name) => name.startsWith(WORK_PREFIX))
}

/** The caller holds the lock. Files of another user may have to stay. */
export function removeWorkFolders({ root }: VenvFiles): void {
  for (const name of readdirSync(root)) {
    if (!name.startsWith(WORK_PREFIX)) continue
    try {
      rmSync(join(root, name), { recursive: true, force: true })
    } catch {}
  }
}

/** Installs packages into the environment `venv`. Packages of an interrupted pip are installed again. */
export async function installPackages(
  files: VenvFiles,
  venv: string,
  file: RequirementsFile,
  report: ReportProgress,
): Promise<void> {
  const options = [
    '--disable-pip-version-check',
    '--no-input',
    '--progress-bar=off',
    '--require-hashes',
    '--no-deps',
    '--ignore-installed', // pip considers a package installed if its metadata exists
  ]
  let lastLine = 'starting'
  const startedAt = Date.now()
  const install = runTetheredPython(
    join(venv, 'bin', 'python'),
    'pip',
    ['install', ...options, '-r', files.getRequirementsPath(file)],
    (line) => {
      lastLine = line
    },
  )
  try {
    await withWaitNotice(
      report,
      () => `pip installs ${file}, for ${secondsSince(startedAt)} s now: ${lastLine.slice(0, MAX_PROGRESS_CHARS)}`,
      install,
    )
  } catch (error) {
    if (!(error instanceof PythonModuleError)) throw error
    throw new StartupError(
      `pip could not install ${file}. Check that this machine reaches the package index, or name a mirror in PIP_INDEX_URL, and start again. Its last output: ${error.summary}`,
      { cause: error },
    )
  }
  files.writeStamp(venv, file)
}

async function createBareVenv(python: string, folder: string, report: ReportProgress): Promise<void> {
  const startedAt = Date.now()
  try {
    await withWaitNotice(
      report,
      () => `${python} makes a virtual environment, for ${secondsSince(startedAt)} s now`,
      runTetheredPython(python, 'venv', [folder]),
    )
  } catch (error) {
    if (!(error instanceof PythonModuleError)) throw error
    const advice = /ensurepip|No module named '?venv/.test(error.output)
      ? 'install its venv module (Debian: apt install python3-venv) and start again'
      : 'name another Python in PYTHON'
    throw new StartupError(
      `${python} could not create a virtual environment: ${advice}. Its last output: ${error.summary}`,
      {
        cause: error,
      },
    )
  }
}

/** Scripts such as `activate` contain the path of their environment. The server does not use them, but people may. */
function setHome(made: string, home: string): void {
  const scripts = readdirSync(join(made, 'bin')).map((name) => join(made, 'bin', name))
  for (const path of [join(made, 'pyvenv.cfg'), ...scripts]) {
    if (!lstatSync(path).isFile()) continue
    const content = readFileSync(path)
    if (content.includes(made)) writeFileSync(path, content.toString('utf8').replaceAll(made, home))
  }
}

function replaceFolder({ root, venv }: VenvFiles, made: string): void {
  if (lstatSync(venv, { throwIfNoEntry: false })) {
    try {
      renameSync(venv, join(root, WORK_PREFIX + randomUUID()))
    } catch (error) {
      // An overlay file system cannot rename a folder of a lower layer.
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
      for (const name of readdirSync(venv)) if (name.startsWith('.installed-')) rmSync(join(venv, name))
      rmSync(venv, { recursive: true })
    }
  }
  renameSync(made, venv)
}

function explainFullDisk({ root }: VenvFiles, cause: unknown): unknown {
  const { code } = cause as NodeJS.ErrnoException
  const full = [root, tmpdir()].find(isFull) ?? (code === 'ENOSPC' || code === 'EDQUOT' ? root : undefined)
  if (full === undefined) return cause
  return new StartupError(
    `The disk of ${full} is full. The Python environment takes 300 MB: free space, then start again.`,
    {
      cause,
    },
  )
}

function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize < FULL_DISK_BYTES
}

function secondsSince(startedAt: number): number {
  return Math.round((Date.now() - startedAt) / 1000)
}
