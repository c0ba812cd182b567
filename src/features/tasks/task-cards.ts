/**
 * Task cards: the figures that `npm run task-cards` measured for each task at its defaults and on each rung, recorded in
 * task-cards.json. A card belongs to a config, not to a place on the ladder. A rung whose config has changed since has
 * no card.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { contentHash } from '@reasoning-gym-server/codec/content-hash'
import type { Config, Recipe } from '@reasoning-gym-server/contract/recipe'
import { TaskCard, type TaskDetail } from '@reasoning-gym-server/contract/task'
import { z } from 'zod'
import type { Ladders } from './ladders.ts'

const RecordedCard = z.strictObject({ config: z.string(), ...TaskCard.shape }).nullable()

export const RecordedTaskCards = z.strictObject({
  engine: z.string().describe('Version of the library'),
  tasks: z.record(z.string(), z.strictObject({ defaults: RecordedCard, rungs: z.array(RecordedCard) })),
})
export type RecordedTaskCards = z.infer<typeof RecordedTaskCards>

export const TASK_CARDS_FILE = join(import.meta.dirname, 'task-cards.json')

interface CardIndex {
  engineVersion: string
  /** Cards, keyed by task and then by the hash of the config. */
  cards: Map<string, Map<string, TaskCard>>
}

let bundled: CardIndex | undefined

/** Those of TASK_CARDS_FILE, read once in a process and not before the first card is needed: it takes 50 ms. */
function getBundledCards(): CardIndex {
  bundled ??= readCardIndex(TASK_CARDS_FILE)
  return bundled
}

function readCardIndex(file: string): CardIndex {
  const { engine, tasks } = RecordedTaskCards.parse(JSON.parse(readFileSync(file, 'utf8')))
  const cards = new Map<string, Map<string, TaskCard>>()
  for (const [task, { defaults, rungs }] of Object.entries(tasks)) {
    const recorded = [defaults, ...rungs].filter((card) => card !== null)
    cards.set(task, new Map(recorded.map(({ config, ...card }) => [config, card])))
  }
  return { engineVersion: engine, cards }
}

export class TaskCards {
  readonly #ladders: Ladders
  readonly #getIndex: () => CardIndex
  /** Cards in the order of the ladder, keyed by task. */
  readonly #cardsByRung = new Map<string, (TaskCard | undefined)[]>()

  constructor(ladders: Ladders, file?: string) {
    this.#ladders = ladders
    const index = file === undefined ? undefined : readCardIndex(file)
    this.#getIndex = index === undefined ? getBundledCards : () => index
  }

  get engineVersion(): string {
    return this.#getIndex().engineVersion
  }

  defaults(task: string): TaskCard | undefined {
    return this.#get(task, {})
  }

  /** Returns the card of a rung, counted from 0. */
  rung(task: string, index: number): TaskCard | undefined {
    return this.#listRungs(task)[index]
  }

  /** Describes all cards of a task, as `GET /tasks/{task}` shows them. */
  describe(task: string): TaskDetail['card'] {
    return {
      engine_version: this.engineVersion,
      defaults: this.defaults(task) ?? null,
      rungs: this.#listRungs(task).map((card) => card ?? null),
      guessable: this.#ladders.guessable(task) ?? null,
    }
  }

  /**
   * Returns the guess floor at the defaults (`null`) or at a difficulty. For a rung without a card, interpolates
   * between the nearest rungs that have one; beyond the last of them, uses its floor. Returns 0 without any card.
   */
  guessFloor(task: string, difficulty: number | null, scoring: 'upstream' | 'hardened'): number {
    return this.findGuessFloor(task, difficulty, scoring) ?? 0
  }

  /** As `guessFloor`, but undefined without any card. */
  findGuessFloor(task: string, difficulty: number | null, scoring: 'upstream' | 'hardened'): number | undefined {
    if (difficulty === null) return this.defaults(task)?.guess_floor[scoring]
    return this.#interpolateFloor(task, this.#ladders.indexAt(task, difficulty), scoring)
  }

  /**
   * Returns the guess floor of an item. Also undefined if the item was made with a custom config or before the ladder
   * changed.
   */
  findItemFloor(recipe: Pick<Recipe, 'task' | 'difficulty' | 'config'>, scoring: 'upstream' | 'hardened') {
    if (!this.#ladders.isCurrent(recipe)) return undefined
    return this.findGuessFloor(recipe.task, recipe.difficulty, scoring)
  }

  #interpolateFloor(task: string, index: number, scoring: 'upstream' | 'hardened'): number | undefined {
    const floorAt = (k: number) => this.rung(task, k)?.guess_floor[scoring]
    const count = this.#ladders.rungs(task).length
    let below = index
    let above = index
    while (below >= 0 && floorAt(below) === undefined) below--
    while (above < count && floorAt(above) === undefined) above++
    const low = floorAt(below)
    const high = floorAt(above)
    if (low === undefined || high === undefined) return low ?? high
    return below === above ? low : low + ((high - low) * (index - below)) / (above - below)
  }

  #listRungs(task: string): (TaskCard | undefined)[] {
    const known = this.#cardsByRung.get(task)
    if (known) return known
    const cards = this.#ladders.rungs(task).map(({ config }) => this.#get(task, config))
    this.#cardsByRung.set(task, cards)
    return cards
  }

  #get(task: string, config: Config): TaskCard | undefined {
    return this.#getIndex().cards.get(task)?.get(hashConfig(config))
  }
}

/** Hashes a config. Equal configs have equal hashes, regardless of the order of their fields. */
export function hashConfig(config: Config): string {
  return contentHash(config).slice(0, 12)
}
