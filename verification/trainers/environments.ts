/** Virtual environments of the trainers: one for each name in versions.json, made once and kept under .venv-trainers/. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { PythonModuleError, runTetheredPython } from '../../src/main/bootstrap/child-lifetime.ts'
import { requirePython } from '../../src/main/bootstrap/python/python-command.ts'
import { withWaitNotice } from '../../src/main/bootstrap/wait-notice.ts'
import type { Family } from './versions.ts'

const execFileAsync = promisify(execFile)

const DEFAULT_ROOT = join(import.meta.dirname, '..', '..', '.venv-trainers')
/** Builds of PyTorch that need no GPU libraries. Where this cannot be reached, the larger ones of PyPI do. */
const CPU_BUILDS = 'https://download.pytorch.org/whl/cpu'
const CPU_BUILDS_TIMEOUT_MS = 10_000
const STAMP = '.installed-packages.json'
const MAX_PROGRESS_CHARS = 80
const PIP_OPTIONS = ['--disable-pip-version-check', '--no-input', '--progress-bar=off']
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
  async prepare(family: Family): Promise<Environment> {
    const python = await this.#getOrBuild(family.venv)
    const sources: Record<string, string> = {}
    for (const source of family.sources) {
      const [name, folder] = await this.#checkOut(source)
      sources[name] = folder
    }
    return { python, sources }
  }

  /** `name==version` of the packages that the family names, as they are installed. */
  async listInstalled(family: Family): Promise<string[]> {
    const python = await this.#getOrBuild(family.venv)
    const { stdout } = await execFileAsync(python, ['-m', 'pip', 'list', '--format=freeze', ...PIP_OPTIONS.slice(0, 2)])
    const named = new Set([...family.requirements, ...family.no_deps].map((one) => normalize(withoutPin(one))))
    return stdout.split('\n').filter((line) => named.has(normalize(withoutPin(line))))
  }

  #getOrBuild(venv: string): Promise<string> {
    const known = this.#building.get(venv)
    if (known !== undefined) return known
    const built = this.#last.then(() => this.#build(venv))
    this.#building.set(venv, built)
    this.#last = built.catch(() => {})
    return built
  }

  async #build(venv: string): Promise<string> {
    const wanted = this.#want(venv)
    const folder = join(this.#root, this.#options.newest ? `newest-${venv}` : venv)
    const python = join(folder, 'bin', 'python')
    const stamp = join(folder, STAMP)
    const have = existsSync(stamp) ? (JSON.parse(readFileSync(stamp, 'utf8')) as string[]) : undefined
    const want = [...(wanted.torch ? ['torch'] : []), ...wanted.noDeps, ...wanted.requirements]
    const isComplete = have !== undefined && want.every((one) => have.includes(one))
    if (isComplete && !this.#options.newest) return python
    const startedAt = Date.now()
    this.#options.report(`Installing ${want.join(', ')} …`)
    if (have === undefined || this.#options.newest) {
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(this.#root, { recursive: true })
      await runModule(await findPython(wanted.python), 'venv', [folder])
      await runModule(python, 'pip', ['install', '--no-compile', ...PIP_OPTIONS, UV])
    }
    let lastLine = 'starting'
    const install = installPackages(python, wanted, (line) => {
      lastLine = line.slice(0, MAX_PROGRESS_CHARS)
    })
    const secondsSoFar = () => Math.round((Date.now() - startedAt) / 1000)
    await withWaitNotice(this.#options.report, () => `${venv}: ${secondsSoFar()} s, ${lastLine}`, install)
    writeFileSync(stamp, `${JSON.stringify([...new Set([...(have ?? []), ...want])].toSorted())}\n`)
    this.#options.report(`Installed ${folder} in ${secondsSoFar()} s`)
    return python
  }

  #want(venv: string): Wanted {
    const sharing = this.#families.filter((family) => family.venv === venv)
    const pins = (packages: string[]) => [
      ...new Set(this.#options.newest ? packages.map((one) => withoutPin(one)) : packages),
    ]
    return {
      python: sharing.find(({ python }) => python !== undefined)?.python,
      torch: sharing.some(({ torch }) => torch),
      requirements: pins(sharing.flatMap(({ requirements }) => requirements)),
      noDeps: pins(sharing.flatMap(({ no_deps }) => no_deps)),
    }
  }

  async #checkOut(source: string): Promise<[name: string, folder: string]> {
    const [url = '', pinned = ''] = source.split(/@(?=[0-9a-f]{40}$)/)
    const commit = this.#options.newest ? 'HEAD' : pinned
    const name = url.replace(/\.git$/, '').replace(/^.*\//, '')
    const folder = join(
      this.#root,
      'sources',
      createHash('sha256').update(`${url} ${commit}`).digest('hex').slice(0, 16),
    )
    if (existsSync(join(folder, '.git', 'FETCH_HEAD')) && !this.#options.newest) return [name, folder]
    this.#options.report(`Fetching ${url} …`)
    rmSync(folder, { recursive: true, force: true })
    const git = (...args: string[]) => execFileAsync('git', ['-C', folder, ...args])
    mkdirSync(folder, { recursive: true })
    await git('init', '--quiet')
    await git('fetch', '--quiet', '--depth', '1', url, commit)
    await git('checkout', '--quiet', '--detach', 'FETCH_HEAD')
    return [name, folder]
  }
}

type OnLine = (line: string) => void

async function installPackages(python: string, { torch, requirements, noDeps }: Wanted, onLine: OnLine): Promise<void> {
  const install = (...args: string[]) =>
    runModule(python, 'uv', ['pip', 'install', '--python', python, ...args], onLine)
  if (torch) await install(...((await hasCpuBuilds()) ? ['--index-url', CPU_BUILDS] : []), 'torch')
  if (requirements.length > 0) await install(...requirements)
  // After the others, so that nothing replaces them. Of the two installers, only pip can pass over `requires-python`.
  if (noDeps.length > 0) {
    const options = ['--no-compile', ...PIP_OPTIONS, '--no-deps', '--ignore-requires-python']
    await runModule(python, 'pip', ['install', ...options, ...noDeps], onLine)
  }
}

async function hasCpuBuilds(): Promise<boolean> {
  const signal = AbortSignal.timeout(CPU_BUILDS_TIMEOUT_MS)
  const response = await fetch(`${CPU_BUILDS}/torch/`, { method: 'HEAD', signal }).catch(() => undefined)
  return response?.ok === true
}

/** Ends with this process; throws the last lines that it printed. */
async function runModule(python: string, module: string, args: string[], onLine?: OnLine): Promise<void> {
  try {
    await runTetheredPython(python, module, args, onLine)
  } catch (error) {
    if (!(error instanceof PythonModuleError)) throw error
    throw new Error(`${python} -m ${module} ${args.slice(0, 1).join(' ')} failed: ${error.summary}`, { cause: error })
  }
}

async function findPython(version: string | undefined): Promise<string> {
  return requirePython(version === undefined ? undefined : `python${version}`)
}

function withoutPin(requirement: string): string {
  return requirement.replace(/[=<>~!; ].*$/, '')
}

function normalize(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[-_.]+/g, '-')
    .replace(/\[.*$/, '')
}
