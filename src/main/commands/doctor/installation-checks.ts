/** Checks Node and its packages, Python, the library, the checkout and the machine. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Finding, fail, ok, warn } from '@reasoning-gym-server/contract/finding'
import { ENGINE_VERSION } from '../../../engine/version.ts'
import { getConnectionLimit, readOpenFilesLimit } from '../../../http/connections/connection-limit.ts'
import { APP_ROOT, findPackageFolder, IS_PACKAGE } from '../../../platform/installation.ts'
import { errorMessage } from '../../../platform/throttled-log.ts'
import {
  findRunProblem,
  getUserName,
  getVenvFolder,
  getVenvState,
  requirePython,
  venvPythonPath,
} from '../../bootstrap/python/python-environment.ts'
import type { VenvState } from '../../bootstrap/python/venv.ts'
import { findWriteProblem } from './redis-and-disk-checks.ts'

const execFileAsync = promisify(execFile)
const LIBRARY_NAME = 'reasoning-gym'
const PROCESS_TIMEOUT_MS = 20_000
/** Fewer allow only a few hundred clients. */
const MIN_OPEN_FILES = 1024
const REBUILD_ADVICE = 'delete .venv and start again, which creates a new one'
const UNUSABLE_ADVICE =
  'delete .venv and create it with a Python that every user can run (set PYTHON); in a checkout that you can write to, the next start does this'

/** With an older Node than the server needs, no command gets this far: bin/reasoning-gym-server.js starts a newer one. */
export function describeNode(): Finding {
  return ok('Node', `${process.versions.node} at ${process.execPath}`)
}

export function checkPackages(): Finding {
  const { dependencies } = JSON.parse(readFileSync(join(APP_ROOT, 'package.json'), 'utf8')) as { dependencies: object } // npm validates package.json
  const missing = Object.keys(dependencies).filter((name) => findPackageFolder(name) === undefined)
  if (missing.length > 0) return fail('Packages', `missing: ${missing.join(', ')}`, 'run `npm ci`')
  return ok('Packages', `${Object.keys(dependencies).length} installed`)
}

export async function checkPython(wanted: string | undefined): Promise<Finding> {
  const python = venvPythonPath()
  const state = getVenvState()
  if (state === 'unusable') return fail('Python', `${python} exists, but you cannot run it`, UNUSABLE_ADVICE)
  const problem = state === 'ready' ? await findRunProblem(python) : undefined
  if (problem !== undefined) return fail('Python', `${python} ${problem}`, REBUILD_ADVICE)
  if (state === 'ready') return ok('Python', `${await getPythonVersion(python)} at ${python}`)
  try {
    const found = await requirePython(wanted)
    return ok('Python', `${await getPythonVersion(found)}; the next start creates ${getVenvFolder()} with it`)
  } catch (error) {
    return fail('Python', wanted ?? 'no Python 3.11 or newer was found', errorMessage(error))
  }
}

const WITHOUT_LIBRARY: Record<Exclude<VenvState, 'ready'>, [found: string, advice: string]> = {
  unusable: ['unknown, because the Python in .venv cannot run', 'fix the Python finding first'],
  missing: ['not installed yet', 'start the server, which installs it; this takes about a minute'],
  incomplete: [
    '.venv is incomplete: a start was interrupted, the pinned versions changed, or its Python was removed',
    'start the server, which creates a new one; this takes about a minute',
  ],
}

export async function checkLibrary(): Promise<Finding> {
  const state = getVenvState()
  if (state !== 'ready') return warn('Library', ...WITHOUT_LIBRARY[state])
  const vendor = join(APP_ROOT, 'src', 'engine', 'python', 'vendor')
  const script = `import sys; sys.path.insert(0, ${JSON.stringify(vendor)}); import importlib.metadata as m; print(m.version('${LIBRARY_NAME}'))`
  const found = await execFileAsync(venvPythonPath(), ['-c', script], { timeout: PROCESS_TIMEOUT_MS }).catch(
    () => undefined,
  )
  const version = found?.stdout.trim()
  if (version === ENGINE_VERSION) return ok('Library', `${LIBRARY_NAME} ${version}`)
  if (version === undefined) return fail('Library', `${LIBRARY_NAME} is not installed in .venv`, REBUILD_ADVICE)
  return fail(
    'Library',
    `${LIBRARY_NAME} ${version} is installed, but the server needs ${ENGINE_VERSION}`,
    REBUILD_ADVICE,
  )
}

/** The next start writes to the folder of the Python environment unless that is complete. A package has no checkout. */
export function checkCheckout(): Finding[] {
  if (IS_PACKAGE) return []
  const problem = findWriteProblem(APP_ROOT)
  if (problem === undefined) return [ok('Checkout', `${APP_ROOT} is writable`)]
  if (getVenvState() === 'ready')
    return [ok('Checkout', `${APP_ROOT} is not writable (${problem}), but .venv is complete`)]
  return [
    fail(
      'Checkout',
      `${APP_ROOT} is not writable (${problem}), but the next start must create .venv there`,
      problem === 'ENOSPC' || problem === 'EDQUOT'
        ? 'free some disk space: .venv takes 300 MB'
        : `make it writable for your user (${getUserName()}), or start the server once as its owner`,
    ),
  ]
}

export function checkMachine(): Finding {
  const files = readOpenFilesLimit()
  const machine = `${availableParallelism()} cores, ${(totalmem() / 2 ** 30).toFixed(1)} GiB of memory`
  const found = files === undefined ? machine : `${machine}, ${files} open files per process`
  if (totalmem() < 1.5 * 2 ** 30)
    return warn('Machine', found, 'set PYTHON_WORKERS=1 and WORKERS=1: each Python worker takes about 150 MB')
  if (files !== undefined && files < MIN_OPEN_FILES) {
    const connections = getConnectionLimit(files)
    return warn('Machine', found, `raise ulimit -n (LimitNOFILE=): an API process accepts ${connections} connections`)
  }
  return ok('Machine', found)
}

async function getPythonVersion(python: string): Promise<string> {
  const { stdout } = await execFileAsync(python, ['--version'], { timeout: PROCESS_TIMEOUT_MS })
  return stdout.trim()
}
