/** Virtual environments of the trainers: one for each name in versions.json, made once and kept under .venv-trainers/. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { requirePython } from '../../src/main/bootstrap/python/python-environment.ts'
import { runTetheredPython } from '../../src/main/bootstrap/python/venv.ts'
import { withWaitNotice } from '../../src/main/bootstrap/startup-report.ts'
import type { Family } from './versions.ts'

const execFileAsync = promisify(execFile)

const DEFAULT_ROOT = join(import.meta.dirname, '..', '..', '.venv-trainers')
/** Builds of PyTorch that need no GPU libraries. Where this cannot be reached, the larger ones of PyPI do. */
const CPU_BUILDS = 'https://download.pytorch.org/whl/cpu'
const CPU_BUILDS_TIMEOUT_MS = 10_000
const STAMP = '.installed-packages.json'
const MAX_PROGRESS_CHARS = 80
const PIP_INSTALL = ['install', '--no-compile', '--disable-pip-version-check', '--no-input', '--progress-bar=off']
/** Installs in a tenth of pip's time. */
const UV = 'uv==0.13.9'

export interface EnvironmentOptions {
  /** Where they are kept. */
  root?: string
  /** Without pins: the newest of everything, in environments of their own. */
  newest: boolean
  report: (line: string) => void
}

export interface Environment {
  python: string
  /** The folders of the git sources, by the name of the repository. */
  sources: Record<string, string>
}

/** What the families that share an environment need together. */
interface Wanted {
  python: string | undefined
  torch: boolean
  requirements: string[]
  noDeps: string[]
}

export class Environments {
  readonly #families: Family[]
  readonly #options: EnvironmentOptions
  readonly #root: string
  readonly #building = new Map<string, Promise<string>>()
  #last: Promise<unknown> = Promise.resolve()

  /** `families`: all that there are, so that an environment has what each of its families needs. */
  constructor(families: Family[], options: EnvironmentOptions) {
    this.#families = families
    this.#options = options
    this.#root = resolve(options.root ?? DEFAULT_ROOT)
  }

  /** Rejects if it cannot be made. Environments are made one after the other. */
  async prepare({ venv, sources }: Family): Promise<Environment> {
    const built = this.#building.get(venv) ?? this.#last.then(() => this.#build(venv))
    this.#building.set(venv, built)
    this.#last = built.catch(() => {})
    const folders: Record<string, string> = {}
    for (const source of sources) Object.assign(folders, await this.#checkOut(source))
    return { python: await built, sources: folders }
  }

  async #build(venv: string): Promise<string> {
    const { newest, report } = this.#options
    const wanted = this.#want(venv)
    const folder = join(this.#root, newest ? `newest-${venv}` : venv)
    const python = join(folder, 'bin', 'python')
    const packages = [...(wanted.torch ? ['torch'] : []), ...wanted.noDeps, ...wanted.requirements].toSorted()
    const stamp = `${JSON.stringify(packages)}\n`
    const stampFile = join(folder, STAMP)
    if (!newest && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return python
    const startedAt = Date.now()
    const secondsSoFar = () => Math.round((Date.now() - startedAt) / 1000)
    report(`Installing ${packages.join(', ')} …`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(this.#root, { recursive: true })
    const base = await requirePython(wanted.python === undefined ? undefined : `python${wanted.python}`)
    await runTetheredPython(base, 'venv', [folder])
    await runTetheredPython(python, 'pip', [...PIP_INSTALL, UV])
    let lastLine = 'starting'
    const install = installPackages(python, wanted, (line) => {
      lastLine = line.slice(0, MAX_PROGRESS_CHARS)
    })
    await withWaitNotice(report, () => `${venv}: ${secondsSoFar()} s, ${lastLine}`, install)
    writeFileSync(stampFile, stamp)
    report(`Installed ${folder} in ${secondsSoFar()} s`)
    if (newest)
      report((await execFileAsync(python, ['-m', 'uv', 'pip', 'freeze'])).stdout.trim().replaceAll('\n', ', '))
    return python
  }

  #want(venv: string): Wanted {
    const sharing = this.#families.filter((family) => family.venv === venv)
    const pin = (one: string) => (this.#options.newest ? one.replace(/[=<>~!; ].*$/, '') : one)
    const pins = (packages: string[]) => [...new Set(packages.map(pin))]
    return {
      python: sharing.find(({ python }) => python !== undefined)?.python,
      torch: sharing.some(({ torch }) => torch),
      requirements: pins(sharing.flatMap(({ requirements }) => requirements)),
      noDeps: pins(sharing.flatMap(({ no_deps }) => no_deps)),
    }
  }

  /** The folder of a git source, by the name of its repository. */
  async #checkOut(source: string): Promise<Record<string, string>> {
    const [url = '', pinned = ''] = source.split(/@(?=[0-9a-f]{40}$)/)
    const commit = this.#options.newest ? 'HEAD' : pinned
    const name = url.replace(/\.git$/, '').replace(/^.*\//, '')
    const hash = createHash('sha256').update(`${url} ${commit}`).digest('hex')
    const folder = join(this.#root, 'sources', hash.slice(0, 16))
    if (existsSync(join(folder, '.git', 'FETCH_HEAD')) && !this.#options.newest) return { [name]: folder }
    this.#options.report(`Fetching ${url} …`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const git = (...args: string[]) => execFileAsync('git', ['-C', folder, ...args])
    await git('init', '--quiet')
    await git('fetch', '--quiet', '--depth', '1', url, commit)
    await git('checkout', '--quiet', '--detach', 'FETCH_HEAD')
    return { [name]: folder }
  }
}

type OnLine = (line: string) => void

async function installPackages(python: string, { torch, requirements, noDeps }: Wanted, onLine: OnLine): Promise<void> {
  const install = (...args: string[]) =>
    runTetheredPython(python, 'uv', ['pip', 'install', '--python', python, ...args], onLine)
  if (torch) await install(...((await hasCpuBuilds()) ? ['--index-url', CPU_BUILDS] : []), 'torch')
  if (requirements.length > 0) await install(...requirements)
  // After the others, so that nothing replaces them. Of the two installers, only pip can pass over `requires-python`.
  const options = [...PIP_INSTALL, '--no-deps', '--ignore-requires-python']
  if (noDeps.length > 0) await runTetheredPython(python, 'pip', [...options, ...noDeps], onLine)
}

async function hasCpuBuilds(): Promise<boolean> {
  const signal = AbortSignal.timeout(CPU_BUILDS_TIMEOUT_MS)
  const response = await fetch(`${CPU_BUILDS}/torch/`, { method: 'HEAD', signal }).catch(() => undefined)
  return response?.ok === true
}
