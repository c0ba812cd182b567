/** The programs that the server is made of: Node with its packages, Python, the library. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, totalmem, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findRunProblem, requirePython } from '../../main/bootstrap/python-command.ts'
import { getVenvState, venvPythonPath } from '../../main/bootstrap/python-environment.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { findWriteProblem } from './write-problem.ts'

const execFileAsync = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..', '..')
const MIN_NODE_VERSION = 24
const LIBRARY_NAME = 'reasoning-gym'
const PROCESS_TIMEOUT_MS = 20_000
const REBUILD_ADVICE = 'delete .venv and start again: it is made anew'
const UNUSABLE_ADVICE =
  'its owner must let you reach it: delete .venv and make it with a Python that every user may run (PYTHON). In a checkout that you can write to, the next start does so'

export function checkNode(): Finding {
  const { node: version } = process.versions
  if (Number.parseInt(version, 10) < MIN_NODE_VERSION)
    return fail('Node', version, `install Node ${MIN_NODE_VERSION}, or run \`npm ci\`, which brings one`)
  return ok('Node', `${version} at ${process.execPath}`)
}

export function checkPackages(): Finding {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object } // npm wants them
  const missing = Object.keys(dependencies).filter((name) => !existsSync(join(ROOT, 'node_modules', name)))
  if (missing.length > 0) return fail('Packages', `missing: ${missing.join(', ')}`, 'run `npm ci`')
  return ok('Packages', `${Object.keys(dependencies).length} in node_modules`)
}

export async function checkPython(wanted: string | undefined): Promise<Finding> {
  const python = venvPythonPath()
  const state = getVenvState()
  if (state === 'unusable') return fail('Python', `${python} is there, but you cannot run it`, UNUSABLE_ADVICE)
  const problem = state === 'ready' ? await findRunProblem(python) : undefined
  if (problem !== undefined) return fail('Python', `${python} ${problem}`, REBUILD_ADVICE)
  if (state === 'ready') return ok('Python', `${await getPythonVersion(python)} in .venv`)
  try {
    const found = await requirePython(wanted)
    return ok('Python', `${await getPythonVersion(found)}; the next start makes .venv with it`)
  } catch (error) {
    return fail('Python', wanted ?? 'none from 3.11 on', error instanceof Error ? error.message : String(error))
  }
}

export async function checkLibrary(): Promise<Finding> {
  const pinned = /^reasoning-gym==([\w.]+)/m.exec(readFileSync(join(ROOT, 'requirements.txt'), 'utf8'))?.[1] ?? ''
  const state = getVenvState()
  if (state === 'unusable') return warn('Library', 'unknown, since its Python cannot be run', 'see to Python first')
  if (state === 'missing')
    return warn('Library', 'not installed yet', 'the first start installs it: about half a minute')
  if (state === 'incomplete')
    return warn(
      'Library',
      '.venv is incomplete: a start was interrupted, the pins have changed or its Python is gone',
      'the next start makes it anew: about half a minute',
    )
  const script = `import importlib.metadata as m; print(m.version('${LIBRARY_NAME}'))`
  const found = await execFileAsync(venvPythonPath(), ['-c', script], { timeout: PROCESS_TIMEOUT_MS }).catch(
    () => undefined,
  )
  const version = found?.stdout.trim()
  if (version === pinned) return ok('Library', `${LIBRARY_NAME} ${version}`)
  if (version === undefined) return fail('Library', `.venv does not have ${LIBRARY_NAME}`, REBUILD_ADVICE)
  return fail('Library', `${LIBRARY_NAME} ${version}, pinned is ${pinned}`, REBUILD_ADVICE)
}

/** The next start writes to it unless .venv is complete. */
export function checkCheckout(): Finding {
  const problem = findWriteProblem(ROOT)
  if (problem === undefined) return ok('Checkout', `${ROOT} can be written`)
  if (getVenvState() === 'ready') return ok('Checkout', `${ROOT} cannot be written (${problem}): .venv is complete`)
  return fail(
    'Checkout',
    `${ROOT} cannot be written (${problem}), and the next start has to make .venv there`,
    problem === 'ENOSPC' || problem === 'EDQUOT'
      ? 'make room: .venv takes 300 MB'
      : `make it writable for you (${userInfo().username}), or run the first start as its owner`,
  )
}

export function checkMachine(): Finding {
  const found = `${availableParallelism()} cores, ${(totalmem() / 2 ** 30).toFixed(1)} GiB of memory`
  if (totalmem() < 1.5 * 2 ** 30)
    return warn('Machine', found, 'set PYTHON_WORKERS=1 and WORKERS=1: a host takes about 150 MB')
  return ok('Machine', found)
}

async function getPythonVersion(python: string): Promise<string> {
  const { stdout } = await execFileAsync(python, ['--version'], { timeout: PROCESS_TIMEOUT_MS })
  return stdout.trim()
}
