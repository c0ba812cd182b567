/** Virtual environments of the trainers: one for each name in versions.json, made once and kept under .venv-trainers/. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { requirePython } from '../../src/main/bootstrap/python/python-environment.ts'
import { runTetheredPython } from '../../src/main/bootstrap/python/venv.ts'
import type { Family } from './versions.ts'

const execFileAsync = promisify(execFile)

const ROOT = join(import.meta.dirname, '..', '..', '.venv-trainers')
/** Builds of PyTorch that need no GPU libraries. Where this cannot be reached, the larger ones of PyPI do. */
const CPU_BUILDS = 'https://download.pytorch.org/whl/cpu'
const CPU_BUILDS_TIMEOUT_MS = 10_000
const STAMP = '.installed-packages.json'
const PIP_INSTALL = ['install', '--no-compile', '--disable-pip-version-check', '--no-input', '--progress-bar=off']
/** Installs in a tenth of pip's time. One environment has it, and fills the others. */
const UV = 'uv==0.13.9'
const INSTALLERS = join(ROOT, 'installers')
process.env.UV_HTTP_TIMEOUT ??= '120' // seconds; uv's own 30 are few for large packages on a busy machine

export interface Environment {
  python: string
  /** The folders of the git sources, by the name of the repository. */
  sources: Record<string, string>
}

export class Environments {
  readonly #families: Family[]
  readonly #newest: boolean
  readonly #report: (line: string) => void
  readonly #ready = new Set<string>()
  #installers: Promise<string> | undefined

  /** `families`: all that there are, so that an environment has what each of its families needs. `newest`: without pins. */
  constructor(families: Family[], newest: boolean, report: (line: string) => void) {
    this.#families = families
    this.#newest = newest
    this.#report = report
  }

  /** Rejects if it cannot be made. */
  async prepare({ venv, sources }: Family): Promise<Environment> {
    const folders: Record<string, string> = {}
    for (const source of sources) Object.assign(folders, await this.#checkOut(source))
    return { python: await this.#build(venv), sources: folders }
  }

  async #build(venv: string): Promise<string> {
    const sharing = this.#families.filter((family) => family.venv === venv)
    const pin = (one: string) => (this.#newest ? one.replace(/[=<>~!; ].*$/, '') : one)
    const list = (key: 'requirements' | 'no_deps') => [...new Set(sharing.flatMap((family) => family[key]).map(pin))]
    const [requirements, noDeps] = [list('requirements'), list('no_deps')]
    const torch = sharing.some((family) => family.torch)
    const folder = join(ROOT, this.#newest ? `newest-${venv}` : venv)
    const python = join(folder, 'bin', 'python')
    const stampFile = join(folder, STAMP)
    const stamp = `${JSON.stringify({ torch, requirements, noDeps })}\n`
    const isStamped = !this.#newest && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp
    if (isStamped || this.#ready.has(venv)) return python
    this.#report(`Installing ${[...noDeps, ...requirements].join(', ')} in ${folder} …`)
    rmSync(folder, { recursive: true, force: true })
    const wanted = sharing.find((family) => family.python !== undefined)?.python
    const base = await requirePython(wanted === undefined ? undefined : `python${wanted}`)
    await runTetheredPython(base, 'venv', ['--without-pip', folder])
    this.#installers ??= buildInstallers().catch((error: unknown) => {
      this.#installers = undefined // the next environment tries again
      throw error
    })
    const installers = await this.#installers
    const install = (...args: string[]) =>
      runTetheredPython(installers, 'uv', ['pip', 'install', '--python', python, ...args])
    if (torch) await install(...((await hasCpuBuilds()) ? ['--index-url', CPU_BUILDS] : []), 'torch')
    if (requirements.length > 0) await install(...requirements)
    // After the others, so that nothing replaces them. Of the two installers, only pip can pass over `requires-python`.
    const options = [...PIP_INSTALL, '--no-deps', '--ignore-requires-python']
    if (noDeps.length > 0) await runTetheredPython(installers, 'pip', ['--python', python, ...options, ...noDeps])
    writeFileSync(stampFile, stamp)
    this.#ready.add(venv)
    if (this.#newest)
      this.#report(
        (await execFileAsync(installers, ['-m', 'uv', 'pip', 'freeze', '--python', python])).stdout
          .trim()
          .replaceAll('\n', ', '),
      )
    return python
  }

  /** The folder of a git source, by the name of its repository. */
  async #checkOut(source: string): Promise<Record<string, string>> {
    const [url = '', pinned = ''] = source.split(/@(?=[0-9a-f]{40}$)/)
    const commit = this.#newest ? 'HEAD' : pinned
    const name = url.replace(/\.git$/, '').replace(/^.*\//, '')
    const hash = createHash('sha256').update(`${url} ${commit}`).digest('hex')
    const folder = join(ROOT, 'sources', hash.slice(0, 16))
    if (existsSync(join(folder, '.git', 'FETCH_HEAD')) && !this.#newest) return { [name]: folder }
    this.#report(`Fetching ${url} …`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const git = (...args: string[]) => execFileAsync('git', ['-C', folder, ...args])
    try {
      await git('init', '--quiet')
      await git('fetch', '--quiet', '--depth', '1', url, commit)
      await git('checkout', '--quiet', '--detach', 'FETCH_HEAD')
    } catch (error) {
      rmSync(folder, { recursive: true, force: true }) // what is left of it looks complete
      throw error
    }
    return { [name]: folder }
  }
}

/** The interpreter of an environment with pip and uv. */
async function buildInstallers(): Promise<string> {
  const python = join(INSTALLERS, 'bin', 'python')
  const stamp = join(INSTALLERS, STAMP)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === UV) return python
  rmSync(INSTALLERS, { recursive: true, force: true })
  await runTetheredPython(await requirePython(undefined), 'venv', [INSTALLERS])
  await runTetheredPython(python, 'pip', [...PIP_INSTALL, UV])
  writeFileSync(stamp, UV)
  return python
}

async function hasCpuBuilds(): Promise<boolean> {
  const signal = AbortSignal.timeout(CPU_BUILDS_TIMEOUT_MS)
  const response = await fetch(`${CPU_BUILDS}/torch/`, { method: 'HEAD', signal }).catch(() => undefined)
  return response?.ok === true
}
