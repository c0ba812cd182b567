/** The engine on the real library: one zygote, a pool of Python workers that make items and another that scores answers. */

import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import { splitList } from '../platform/split-list.ts'
import {
  type DatasetPosition,
  type Engine,
  type EngineHealth,
  type EngineOutcome,
  type GeneratedItem,
  type PythonWorkerKind,
  SandboxLayerRegistry,
  type SandboxLayers,
  type TaskDefinition,
  type TaskProblem,
  unwrapOutcome,
  type WorkKind,
} from './engine.ts'
import { PythonWorkerPool } from './python-worker-pool.ts'
import { ENGINE_VERSION } from './version.ts'
import { Zygote, type ZygoteOptions } from './zygote.ts'

export interface PythonEngineOptions extends ZygoteOptions {
  /** Hosts of each kind. */
  workersPerPool: number
  scoreDeadlineMs: number
  makeDeadlineMs: number
  onHealth?: (health: EngineHealth) => void
  /** The first worker of a kind is up, or Python workers of that kind are walled in another way than before. */
  onSandboxLayers?: (kind: PythonWorkerKind, layers: SandboxLayers) => void
}

const CUSTOM_TASKS_SCRIPT = join(import.meta.dirname, 'python', 'custom_tasks.py')
const execFileAsync = promisify(execFile)
const PARSE_DEADLINE_MS = 10_000
const QUERY_DEADLINE_MS = 10_000
/** Importing the modules of TASKS_PATH may take seconds for each. */
const LIST_CUSTOM_TASKS_DEADLINE_MS = 60_000
/** Items that one worker makes in a row before another may help: those of zebra_puzzles take up to 8 s each. */
const MAX_CHUNK_SIZE = 16
const MIN_CHUNK_SIZE = 4
/** The library runs programs to make their items. Each runs in a worker that is ended after it. */
const TASKS_THAT_RUN_PROGRAMS: ReadonlySet<string> = new Set(['codeio'])
/** Their answers may take seconds each, so they have workers of their own, and no answer to another task waits for them. */
const TASKS_SCORED_BY_SYMPY: ReadonlySet<string> = new Set(['intermediate_integration', 'simple_integration'])
const MAX_CACHED_CONFIGS = 10_000
const NO_OUTCOME: EngineOutcome = { kind: 'lost', reason: 'crashed', detail: 'the Python worker gave no result' }

/** What the Python side replies to a request for its tasks. */
interface TaskListing {
  /** JSON of definitions like those of the custom tasks. */
  library_tasks: string
  custom_tasks: Record<string, TaskDefinition>
  problems: TaskProblem[]
}

export class PythonEngine implements Engine {
  readonly version = ENGINE_VERSION
  readonly #options: PythonEngineOptions
  readonly #pools: Readonly<Record<PythonWorkerKind, PythonWorkerPool>>
  readonly #startup = Promise.withResolvers<void>()
  readonly #canonicalConfigs = new Map<string, Config>()
  readonly #layerRegistry = new SandboxLayerRegistry()
  #zygote: Zygote | undefined
  #health: EngineHealth = { ok: false, detail: 'the library is starting' }
  #tasks: Record<string, TaskDefinition> | undefined
  /** The tasks were listed by an earlier zygote, whose files of TASKS_PATH may have been others. */
  #isListingOutdated = true
  #taskProblems: TaskProblem[] = []
  /** Of files that were saved since; as long as there are any, all tasks keep their code. */
  #syntaxErrors: TaskProblem[] = []

  constructor(options: PythonEngineOptions) {
    this.#options = options
    const up = () => (this.#health.ok ? this.#zygote : undefined)
    const size = options.workersPerPool
    this.#pools = {
      items: new PythonWorkerPool('items', { size }, up),
      // One core stays free, so that new items do not wait for a slice of the processor at every hop between processes.
      dataset: new PythonWorkerPool('dataset', { size: Math.max(1, size - 1), isOnDemand: true, isFixed: true }, up),
      score: new PythonWorkerPool('score', { size }, up),
      sympy: new PythonWorkerPool('sympy', { size: Math.ceil(size / 2), isOnDemand: true }, up),
    }
    this.#zygote = new Zygote(options, {
      onWorkerConnected: (kind, pid, socket, layers) => {
        if (this.#layerRegistry.record(kind, layers)) options.onSandboxLayers?.(kind, layers)
        this.#pools[kind].addWorker(pid, socket)
      },
      onForkFailed: (kind, reason) => this.#pools[kind].handleForkFailure(reason),
      onReady: (version) => this.#handleZygoteReady(version),
      onExit: (reason) => this.#handleZygoteExit(reason),
    })
  }

  async waitUntilStarted(): Promise<void> {
    await this.#startup.promise
  }

  health(): EngineHealth {
    return this.#health
  }

  sandboxLayers(): SandboxLayers {
    return this.#layerRegistry.getCombined()
  }

  assertReady(): void {
    if (!this.#health.ok)
      throw new ServiceError('engine_unavailable', `The engine is not available: ${this.#health.detail}. Retry later.`)
  }

  pythonWorkers(): ReturnType<Engine['pythonWorkers']> {
    const count = (...pools: PythonWorkerPool[]) => ({
      alive: sumOf(pools, (pool) => pool.workerCount),
      kills: sumOf(pools, (pool) => pool.kills),
      ends: {
        timeout: sumOf(pools, (pool) => pool.exits.timeout),
        crashed: sumOf(pools, (pool) => pool.exits.crashed),
        engine_exited: sumOf(pools, (pool) => pool.exits.engine_exited),
      },
    })
    const { items, dataset, score, sympy } = this.#pools
    return { items: count(items, dataset), score: count(score, sympy) }
  }

  async tasks(): Promise<Record<string, TaskDefinition>> {
    if (!this.#tasks || this.#isListingOutdated) {
      this.#isListingOutdated = false
      let outcome = await this.#askForTasks({ custom: true })
      const areCustomTasksAtFault = outcome?.kind === 'lost' && outcome.reason !== 'unavailable'
      const lostDetail = outcome?.kind === 'lost' ? outcome.detail : ''
      if (areCustomTasksAtFault) outcome = await this.#askForTasks({ custom: false })
      if (outcome?.kind !== 'value') this.#isListingOutdated = true
      const { library_tasks, custom_tasks, problems } = unwrapOutcome(outcome) as TaskListing
      const tasks = { ...(JSON.parse(library_tasks) as TaskListing['custom_tasks']), ...custom_tasks }
      if (areCustomTasksAtFault)
        problems.push({
          file: this.#options.taskPlaces?.join(delimiter) ?? '',
          detail: `a Python worker ends when it imports these tasks: ${lostDetail}`,
        })
      if (this.#tasks && isDeepStrictEqual(tasks, this.#tasks)) return this.#tasks
      this.#canonicalConfigs.clear()
      this.#tasks = tasks
      this.#taskProblems = problems
    }
    return this.#tasks
  }

  /** What a request about a custom task also has, as worker.py says; nothing for a task of the library. */
  #describeCode(task: string, version = this.versionOf(task)): { file?: string; code_hash?: string } {
    const [, code_hash] = version.split('+')
    const file = this.#tasks?.[task]?.custom?.file
    return { ...(code_hash !== undefined && { code_hash }), ...(file !== undefined && { file }) }
  }

  async #askForTasks({ custom }: { custom: boolean }): Promise<EngineOutcome | undefined> {
    const deadlineMs = custom ? LIST_CUSTOM_TASKS_DEADLINE_MS : QUERY_DEADLINE_MS
    const request = {
      request: { op: 'tasks', custom },
      work: 'query' as const,
      task: '',
      deadlineMs,
      isExpected: isObject,
    }
    const [outcome] = await this.#pools.items.run(request, [null])
    return outcome
  }

  get taskProblems(): readonly TaskProblem[] {
    return [...this.#syntaxErrors, ...this.#taskProblems]
  }

  versionOf(task: string): string {
    const custom = this.#tasks?.[task]?.custom
    return custom ? `${this.version}+${custom.code_hash}` : this.version
  }

  async canonicalizeConfig(task: string, config: Config): Promise<Config> {
    const key = `${task} ${JSON.stringify(config)}`
    let known = this.#canonicalConfigs.get(key)
    if (!known) {
      const request = {
        request: { op: 'config', task, ...this.#describeCode(task) },
        work: 'query' as const,
        task,
        deadlineMs: QUERY_DEADLINE_MS,
        isExpected: isObject,
      }
      const [outcome] = await this.#pools.items.run(request, [config])
      known = unwrapOutcome(outcome) as Config // library.canonical gives an object
      if (this.#canonicalConfigs.size >= MAX_CACHED_CONFIGS) this.#canonicalConfigs.clear()
      this.#canonicalConfigs.set(key, known)
    }
    return known
  }

  generateItems(
    task: string,
    config: Config,
    places: DatasetPosition[],
    version = this.versionOf(task),
  ): Promise<EngineOutcome[]> {
    return Promise.all(this.generateEach(task, config, places, version))
  }

  generateEach(
    task: string,
    config: Config,
    places: DatasetPosition[],
    version = this.versionOf(task),
    work: WorkKind = 'recipe',
  ): Promise<EngineOutcome>[] {
    const isLast = TASKS_THAT_RUN_PROGRAMS.has(task)
    const batch = {
      request: { op: 'items', task, config, ...this.#describeCode(task, version) },
      work,
      task,
      deadlineMs: this.#options.makeDeadlineMs,
      isLast,
      isExpected: isGeneratedItem,
    }
    const share = Math.ceil(places.length / this.#options.workersPerPool)
    const size = isLast ? 1 : Math.min(MAX_CHUNK_SIZE, Math.max(MIN_CHUNK_SIZE, share))
    const pool = work === 'dataset' ? this.#pools.dataset : this.#pools.items
    const run = (chunk: DatasetPosition[]) => pool.runEach(batch, chunk)
    return splitList(places, size).flatMap((chunk) =>
      run(chunk).map(async (outcome, k) => {
        const made = await outcome
        if (made.kind !== 'lost' || made.reason !== 'crashed') return withQuestion(made)
        const [again = made] = await Promise.all(run(chunk.slice(k, k + 1))) // the worker may have been killed from outside
        return withQuestion(again)
      }),
    )
  }

  async score(
    task: string,
    config: Config,
    seed: number,
    entry: DatasetEntry,
    answers: string[],
    version = this.versionOf(task),
  ): Promise<EngineOutcome[]> {
    const request = { op: 'score', task, config, seed, entry, ...this.#describeCode(task, version) }
    const isExpected = (value: unknown) => typeof value === 'number'
    const batch = { request, work: 'answers' as const, task, deadlineMs: this.#options.scoreDeadlineMs, isExpected }
    const pool = TASKS_SCORED_BY_SYMPY.has(task) ? this.#pools.sympy : this.#pools.score
    return pool.run(batch, answers)
  }

  /** Each in a worker of its own, once more where that ended: it may have been killed from outside. */
  runProgram(
    task: string,
    config: Config,
    seed: number,
    entry: DatasetEntry,
    inputs: string[],
    version = this.versionOf(task),
  ): Promise<EngineOutcome[]> {
    const request = { op: 'run', task, config, seed, entry, ...this.#describeCode(task, version) }
    const deadlineMs = this.#options.scoreDeadlineMs
    const isExpected = (value: unknown) => typeof value === 'boolean'
    const batch = { request, work: 'answers' as const, task, deadlineMs, isLast: true, isExpected }
    const run = async (input: string): Promise<EngineOutcome> => {
      const [outcome = NO_OUTCOME] = await this.#pools.items.run(batch, [input])
      return outcome
    }
    return Promise.all(
      inputs.map(async (input) => {
        const outcome = await run(input)
        return outcome.kind === 'lost' && outcome.reason === 'crashed' ? run(input) : outcome
      }),
    )
  }

  async explain(
    task: string,
    question: string,
    answers: string[],
    version = this.versionOf(task),
  ): Promise<EngineOutcome[]> {
    const request = { op: 'explain', task, question, ...this.#describeCode(task, version) }
    const isExpected = (value: unknown) => typeof value === 'string' || value === null
    const batch = { request, work: 'answers' as const, task, deadlineMs: this.#options.scoreDeadlineMs, isExpected }
    return this.#pools.score.run(batch, answers)
  }

  /** Runs the unit tests in a folder with custom tasks, inside the sandbox; the result is as hostile as the tests may be. */
  async runUnitTests(folder: string, pattern: string, deadlineMs: number): Promise<EngineOutcome | undefined> {
    const isExpected = () => true
    const batch = { request: { op: 'tests' }, work: 'query' as const, task: '', deadlineMs, isLast: true, isExpected }
    const [outcome] = await this.#pools.items.run(batch, [[folder, pattern]])
    return outcome
  }

  async reloadTasks(): Promise<void> {
    const { pythonPath, taskPlaces = [] } = this.#options
    const errors = await listSyntaxErrors(pythonPath, taskPlaces)
    this.#syntaxErrors = errors.map(({ file, detail }) => ({
      file,
      detail: `${detail}. Until it parses, all tasks keep their code`,
    }))
    if (this.#syntaxErrors.length === 0) this.#zygote?.restart()
  }

  async close(): Promise<void> {
    const zygote = this.#zygote
    this.#zygote = undefined
    for (const pool of Object.values(this.#pools)) pool.close()
    await zygote?.close()
  }

  #handleZygoteReady(version: string): void {
    if (version !== ENGINE_VERSION) {
      this.#handleZygoteExit(`reasoning-gym ${version} is installed, but ${ENGINE_VERSION} is required`)
      return
    }
    this.#isListingOutdated = true
    this.#setHealth({ ok: true })
    for (const pool of Object.values(this.#pools)) pool.forkAll()
    this.#startup.resolve()
  }

  #handleZygoteExit(reason: string): void {
    this.#setHealth({ ok: false, detail: reason })
    for (const pool of Object.values(this.#pools)) pool.failQueued(reason)
    this.#startup.resolve()
  }

  #setHealth(health: EngineHealth): void {
    this.#health = health
    this.#options.onHealth?.(health)
  }
}

function sumOf(pools: PythonWorkerPool[], get: (pool: PythonWorkerPool) => number): number {
  return pools.reduce((sum, pool) => sum + get(pool), 0)
}

/** The worker sends the question once. */
function withQuestion(made: EngineOutcome): EngineOutcome {
  if (made.kind !== 'value') return made
  const { question, entry } = made.value as GeneratedItem // its request expects one
  return { kind: 'value', value: { question, entry: { ...entry, question } } satisfies GeneratedItem }
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null

function isGeneratedItem(value: unknown): boolean {
  const { question, entry } = (value ?? {}) as { question?: unknown; entry?: { answer?: unknown } | null } // looked at below
  return typeof question === 'string' && (typeof entry?.answer === 'string' || entry?.answer === null)
}

/** Python files of custom tasks that do not parse. None of them runs. */
async function listSyntaxErrors(pythonPath: string, places: readonly string[]): Promise<TaskProblem[]> {
  try {
    const options = { timeout: PARSE_DEADLINE_MS, killSignal: 'SIGKILL' as const }
    const { stdout } = await execFileAsync(pythonPath, ['-I', CUSTOM_TASKS_SCRIPT, ...places], options)
    return JSON.parse(stdout) as TaskProblem[] // as list_syntax_errors lists them
  } catch {
    return [] // the import will say what is wrong
  }
}
