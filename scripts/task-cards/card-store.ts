/** The measured cards on disk, by task and config, and their frozen form: a change of a ladder needs the cards of its new rungs only. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { TaskCard } from '@reasoning-gym-server/contract/task'
import { TASK_NAMES } from '../../src/features/tasks/built-in-tasks.ts'
import type { Ladders } from '../../src/features/tasks/ladders.ts'
import { hashConfig, RecordedTaskCards, TASK_CARDS_FILE } from '../../src/features/tasks/task-cards.ts'

interface CardFile {
  engine: string
  /** By task, then by the hash of the config. */
  cards: Record<string, Record<string, TaskCard>>
}

const RECORDED = RecordedTaskCards.parse(JSON.parse(readFileSync(TASK_CARDS_FILE, 'utf8')))

export class CardStore {
  readonly #path: string
  readonly #file: CardFile

  /** Starts from the frozen cards and those of an interrupted measurement; cards of another engine version are dropped. */
  constructor(path: string, engine: string) {
    this.#path = path
    this.#file = { engine, cards: engine === RECORDED.engine ? groupRecordedCards() : {} }
    const stored = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as CardFile) : undefined // written below
    if (stored?.engine !== engine) return
    for (const [task, cards] of Object.entries(stored.cards))
      this.#file.cards[task] = { ...this.#file.cards[task], ...cards }
  }

  get engine(): string {
    return this.#file.engine
  }

  get(task: string, config: Config): TaskCard | undefined {
    return this.#file.cards[task]?.[hashConfig(config)]
  }

  set(task: string, config: Config, card: TaskCard): void {
    this.#file.cards[task] = { ...this.#file.cards[task], [hashConfig(config)]: card }
  }

  /** Forgets the cards of configs that are on no ladder any more. */
  prune(configs: ReadonlyMap<string, readonly Config[]>): void {
    for (const [task, cards] of Object.entries(this.#file.cards)) {
      const known = new Set(configs.get(task)?.map(hashConfig))
      this.#file.cards[task] = Object.fromEntries(Object.entries(cards).filter(([hash]) => known.has(hash)))
    }
  }

  /** Written under another name and renamed, so that an interruption leaves a whole file. */
  save(): void {
    const tasks = Object.entries(this.#file.cards).toSorted(([a], [b]) => (a < b ? -1 : 1))
    const lines = tasks.map(([task, cards]) => {
      const rows = Object.entries(cards).map(([hash, card]) => `   "${hash}": ${JSON.stringify(card)}`)
      return `  "${task}": {\n${rows.join(',\n')}\n  }`
    })
    writeFileSync(
      `${this.#path}.new`,
      `{\n "engine": "${this.#file.engine}",\n "cards": {\n${lines.join(',\n')}\n }\n}\n`,
    )
    renameSync(`${this.#path}.new`, this.#path)
  }
}

function groupRecordedCards(): CardFile['cards'] {
  return Object.fromEntries(
    Object.entries(RECORDED.tasks).map(([task, { defaults, rungs }]) => {
      const cards = [defaults, ...rungs].filter((card) => card !== null)
      return [task, Object.fromEntries(cards.map(({ config, ...card }) => [config, card]))]
    }),
  )
}

export function freezeTaskCards(store: CardStore, ladders: Ladders): void {
  const tasks = TASK_NAMES.map((task) => {
    const formatCard = (config: Parameters<typeof hashConfig>[0]) => {
      const card = store.get(task, config)
      return card ? JSON.stringify({ config: hashConfig(config), ...card }) : 'null'
    }
    const rungs = ladders.rungs(task).map(({ config }) => `    ${formatCard(config)}`)
    return `  "${task}": {\n   "defaults": ${formatCard({})},\n   "rungs": [\n${rungs.join(',\n')}\n   ]\n  }`
  })
  writeFileSync(TASK_CARDS_FILE, `{\n "engine": "${store.engine}",\n "tasks": {\n${tasks.join(',\n')}\n }\n}\n`)
}
