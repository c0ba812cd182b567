/** The programs that the server is made of: Node with its packages, Python, the library. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { requirePython, venvPythonPath } from '../../main/bootstrap/python-environment.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const execFileAsync = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..', '..')
const MIN_NODE_VERSION = 24
const LIBRARY_NAME = 'reasoning-gym'
const PROCESS_TIMEOUT_MS = 20_000

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
  if (existsSync(venvPythonPath())) return ok('Python', `${await getPythonVersion(venvPythonPath())} in .venv`)
  try {
    const found = await requirePython(wanted)
    return ok('Python', `${await getPythonVersion(found)}; the first start makes .venv with it`)
  } catch (error) {
    return fail('Python', wanted ?? 'none from 3.11 on', error instanceof Error ? error.message : String(error))
  }
}

export async function checkLibrary(): Promise<Finding> {
  const pinned = /^reasoning-gym==([\w.]+)/m.exec(readFileSync(join(ROOT, 'requirements.txt'), 'utf8'))?.[1] ?? ''
  if (!existsSync(venvPythonPath()))
    return warn('Library', 'not installed yet', 'the first start installs it: about half a minute')
  const script = `import importlib.metadata as m; print(m.version('${LIBRARY_NAME}'))`
  const found = await execFileAsync(venvPythonPath(), ['-c', script], { timeout: PROCESS_TIMEOUT_MS }).catch(
    () => undefined,
  )
  const version = found?.stdout.trim()
  if (version === pinned) return ok('Library', `${LIBRARY_NAME} ${version}`)
  const advice = 'delete .venv and start again: it is made anew'
  if (version === undefined) return fail('Library', `.venv does not have ${LIBRARY_NAME}`, advice)
  return fail('Library', `${LIBRARY_NAME} ${version}, pinned is ${pinned}`, advice)
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
