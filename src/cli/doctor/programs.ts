/** The programs that the server is made of: Node with its packages, Python, the library. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findPython, venvPython } from '../../prepare/python-environment.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..', '..')
const NODE_WANTED = 24
const LIBRARY = 'reasoning-gym'
const LOOK_MS = 20_000

export function node(): Finding {
  const { node: version } = process.versions
  if (Number.parseInt(version, 10) < NODE_WANTED)
    return fail('Node', version, `install Node ${NODE_WANTED}, or run \`npm ci\`, which brings one`)
  return ok('Node', `${version} at ${process.execPath}`)
}

export function packages(): Finding {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object } // npm wants them
  const missing = Object.keys(dependencies).filter((name) => !existsSync(join(ROOT, 'node_modules', name)))
  if (missing.length > 0) return fail('Packages', `missing: ${missing.join(', ')}`, 'run `npm ci`')
  return ok('Packages', `${Object.keys(dependencies).length} in node_modules`)
}

export async function python(wanted: string | undefined): Promise<Finding> {
  if (existsSync(venvPython())) return ok('Python', `${await versionOf(venvPython())} in .venv`)
  try {
    const found = await findPython(wanted)
    return ok('Python', `${await versionOf(found)}; the first start makes .venv with it`)
  } catch (error) {
    return fail('Python', wanted ?? 'none from 3.11 on', error instanceof Error ? error.message : String(error))
  }
}

export async function library(): Promise<Finding> {
  const pinned = /^reasoning-gym==([\w.]+)/m.exec(readFileSync(join(ROOT, 'requirements.txt'), 'utf8'))?.[1] ?? ''
  if (!existsSync(venvPython()))
    return warn('Library', 'not installed yet', 'the first start installs it: about half a minute')
  const script = `import importlib.metadata as m; print(m.version('${LIBRARY}'))`
  const found = await run(venvPython(), ['-c', script], { timeout: LOOK_MS }).catch(() => undefined)
  const version = found?.stdout.trim()
  if (version === pinned) return ok('Library', `${LIBRARY} ${version}`)
  const advice = 'delete .venv and start again: it is made anew'
  if (version === undefined) return fail('Library', `.venv does not have ${LIBRARY}`, advice)
  return fail('Library', `${LIBRARY} ${version}, pinned is ${pinned}`, advice)
}

export function machine(): Finding {
  const found = `${availableParallelism()} cores, ${(totalmem() / 2 ** 30).toFixed(1)} GiB of memory`
  if (totalmem() < 1.5 * 2 ** 30)
    return warn('Machine', found, 'set ENGINE_HOSTS=1 and WORKERS=1: a host takes about 150 MB')
  return ok('Machine', found)
}

async function versionOf(python: string): Promise<string> {
  const { stdout } = await run(python, ['--version'], { timeout: LOOK_MS })
  return stdout.trim()
}
