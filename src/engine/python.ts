/** The engine on the real library: one zygote, a pool of hosts that make items and another that scores answers. */
import { Fault } from '../faults.ts'
import type { Entry } from '../scorers/scorer.ts'
import type { Config } from '../words/recipe.ts'
import type { Engine, Health, Place, TaskFacts } from './engine.ts'
import { LayerBook, type Layers } from './layers.ts'
import { type Outcome, unwrap } from './outcome.ts'
import { Pool } from './pool.ts'
import { ENGINE_VERSION } from './version.ts'
import { type HostKind, Zygote } from './zygote.ts'

export interface PythonEngineOptions {
  /** The interpreter that has the library. */
  python: string
  /** Hosts of each kind. */
  hosts: number
  scoreDeadlineMs: number
  makeDeadlineMs: number
  onHealth?: (health: Health) => void
  /** The first host of a kind is up, or hosts of that kind are walled in another way than before. */
  onLayers?: (kind: HostKind, layers: Layers) => void
}

const ASK_DEADLINE_MS = 10_000
/** Items that one host makes in a row before another may help. */
const CHUNK = 16
const CONFIGS_KEPT = 10_000

export class PythonEngine implements Engine {
  readonly version = ENGINE_VERSION
  readonly #options: PythonEngineOptions
  readonly #makers: Pool
  readonly #scorers: Pool
  readonly #ready = Promise.withResolvers<void>()
  readonly #canonical = new Map<string, Config>()
  readonly #layers = new LayerBook()
  #zygote: Zygote | undefined
  #health: Health = { ok: false, detail: 'the library is starting' }
  #tasks: Record<string, TaskFacts> | undefined

  constructor(options: PythonEngineOptions) {
    this.#options = options
    const up = () => (this.#health.ok ? this.#zygote : undefined)
    this.#makers = new Pool('items', options.hosts, up)
    this.#scorers = new Pool('score', options.hosts, up)
    this.#zygote = new Zygote(options.python, {
      onHost: (kind, pid, socket, layers) => {
        if (this.#layers.note(kind, layers)) options.onLayers?.(kind, layers)
        this.#poolOf(kind).adopt(pid, socket)
      },
      onUnborn: (kind, reason) => this.#poolOf(kind).unborn(reason),
      onReady: (version) => this.#start(version),
      onLost: (reason) => this.#lost(reason),
    })
  }

  async started(): Promise<void> {
    await this.#ready.promise
  }

  health(): Health {
    return this.#health
  }

  layers(): Layers {
    return this.#layers.all()
  }

  assertReady(): void {
    if (!this.#health.ok)
      throw new Fault('engine_unavailable', `The engine is down: ${this.#health.detail}`, { retryAfter: 2 })
  }

  hosts(): ReturnType<Engine['hosts']> {
    const count = (pool: Pool) => ({ alive: pool.hosts, kills: pool.kills, ends: { ...pool.ends } })
    return { items: count(this.#makers), score: count(this.#scorers) }
  }

  async tasks(): Promise<Record<string, TaskFacts>> {
    if (!this.#tasks) {
      const [outcome] = await this.#makers.run({ request: { op: 'tasks' }, task: '', deadlineMs: ASK_DEADLINE_MS }, [
        null,
      ])
      const { tasks } = unwrap(outcome) as { tasks: Record<string, TaskFacts> } // as host.py describes them
      this.#tasks = tasks
    }
    return this.#tasks
  }

  async canonical(task: string, config: Config): Promise<Config> {
    const key = `${task} ${JSON.stringify(config)}`
    let known = this.#canonical.get(key)
    if (!known) {
      const request = { request: { op: 'config', task }, task, deadlineMs: ASK_DEADLINE_MS }
      const [outcome] = await this.#makers.run(request, [config])
      known = unwrap(outcome) as Config // library.canonical gives an object
      if (this.#canonical.size >= CONFIGS_KEPT) this.#canonical.clear()
      this.#canonical.set(key, known)
    }
    return known
  }

  async items(task: string, config: Config, places: Place[]): Promise<Outcome[]> {
    const batch = { request: { op: 'items', task, config }, task, deadlineMs: this.#options.makeDeadlineMs }
    const chunks: Place[][] = []
    for (let k = 0; k < places.length; k += CHUNK) chunks.push(places.slice(k, k + CHUNK))
    return (await Promise.all(chunks.map((chunk) => this.#makers.run(batch, chunk)))).flat()
  }

  score(task: string, config: Config, seed: number, entry: Entry, answers: string[]): Promise<Outcome[]> {
    const request = { op: 'score', task, config, seed, entry }
    return this.#scorers.run({ request, task, deadlineMs: this.#options.scoreDeadlineMs }, answers)
  }

  async close(): Promise<void> {
    const zygote = this.#zygote
    this.#zygote = undefined
    this.#makers.close()
    this.#scorers.close()
    await zygote?.close()
  }

  #poolOf(kind: HostKind): Pool {
    return kind === 'items' ? this.#makers : this.#scorers
  }

  #start(version: string): void {
    if (version !== ENGINE_VERSION) {
      this.#lost(`reasoning-gym ${version} is installed where ${ENGINE_VERSION} is wanted`)
      return
    }
    this.#setHealth({ ok: true })
    this.#makers.fill()
    this.#scorers.fill()
    this.#ready.resolve()
  }

  #lost(reason: string): void {
    this.#setHealth({ ok: false, detail: reason })
    this.#makers.fail(reason)
    this.#scorers.fail(reason)
    this.#ready.resolve()
  }

  #setHealth(health: Health): void {
    this.#health = health
    this.#options.onHealth?.(health)
  }
}
