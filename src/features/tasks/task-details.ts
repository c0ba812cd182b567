/** Tasks as `GET /tasks` and `GET /tasks/{task}` show them, with figures per task over all runs. */
import { basename } from 'node:path'
import type { Item } from '@reasoning-gym-server/contract/item'
import type { TaskDetail, TaskList, TaskStatistics, TaskSummary } from '@reasoning-gym-server/contract/task'
import type { TaskValidation } from '@reasoning-gym-server/contract/validation'
import type { Scoring } from '@reasoning-gym-server/task-tools/validation/checks'
import type { Redis } from 'ioredis'
import type { Engine } from '../../engine/engine.ts'
import { meanOfSum } from '../../grading/statistics.ts'
import { SharedCounters } from '../../platform/metrics/shared-counters.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import type { Ladders } from './ladders.ts'
import type { TaskCards } from './task-cards.ts'
import type { CatalogTask, TaskCatalog } from './task-catalog.ts'
import { buildRecordedValidation, getKeyCheck } from './validation/recorded.ts'

interface TaskDetailsDeps {
  engine: Pick<Engine, 'version' | 'versionOf'>
  tasks: TaskCatalog
  ladders: Ladders
  cards: TaskCards
  statistics: TaskStatisticsRecorder
  getExample: (task: string) => Promise<Item | null>
}

export class TaskDetails {
  readonly #deps: TaskDetailsDeps

  constructor(deps: TaskDetailsDeps) {
    this.#deps = deps
  }

  /** Lists all tasks, those of a category, or those whose name, category or description contains `query`. */
  async list(category?: string, query?: string): Promise<TaskList> {
    const { engine, tasks } = this.#deps
    await tasks.loadRegistry()
    const list = tasks.list(category, query).map((task) => this.#addFloor(task))
    return {
      engine: { library: 'reasoning-gym', version: engine.version },
      source: tasks.source,
      problems: tasks.problems.map(({ file, detail }) => `${basename(file)}: ${detail}`),
      total: list.length,
      tasks: list,
    }
  }

  /** Returns one task with its config schema, ladder, card, example and statistics. Throws `unknown_task`. */
  async require(name: string): Promise<TaskDetail> {
    const { tasks, ladders, cards, statistics, getExample } = this.#deps
    const definition = await tasks.getDefinition(name)
    const summary = tasks.require(name)
    return {
      ...this.#addFloor(summary),
      config_schema: definition?.config_schema ?? null,
      ladder: ladders.rungs(name),
      not_adjustable: ladders.whyNotAdjustable(name),
      card: cards.describe(name),
      keys: getKeyCheck(name),
      example: definition ? await getExample(name) : null,
      statistics: await statistics.read(name),
    }
  }

  /** Returns the recorded validation of a task. Throws `unknown_task`. */
  async requireValidation(name: string, scoring: Scoring): Promise<TaskValidation> {
    await this.#deps.tasks.getDefinition(name)
    return buildRecordedValidation(this.#deps, this.#deps.tasks.require(name).name, scoring)
  }

  #addFloor(task: CatalogTask): TaskSummary {
    return { ...task, guess_floor: this.#deps.cards.defaults(task.name)?.guess_floor.hardened ?? null }
  }
}

const STATISTIC_NAMES = ['items', 'make_ms', 'rollouts', 'score', 'answers', 'score_ms'] as const
type StatisticName = (typeof STATISTIC_NAMES)[number]

export class TaskStatisticsRecorder {
  readonly #sharedCounters: SharedCounters

  constructor(redis: Redis, keys: RedisKeys) {
    this.#sharedCounters = new SharedCounters(redis, keys.key('task-statistics'))
  }

  recordGeneratedItems(task: string, items: number, ms: number): void {
    this.#add(task, { items, make_ms: ms })
  }

  recordScoredRollouts(task: string, rollouts: number, score: number): void {
    this.#add(task, { rollouts, score })
  }

  /** Records answers that a scorer was asked to score. Equal answers count once. */
  recordScorerCalls(task: string, answers: number, ms: number): void {
    this.#add(task, { answers, score_ms: ms })
  }

  async read(task: string): Promise<TaskStatistics> {
    const values = await this.#sharedCounters.readFields(
      STATISTIC_NAMES.map((name) => formatStatisticField(task, name)),
    )
    const [items = 0, makeMs = 0, rollouts = 0, score = 0, answers = 0, scoreMs = 0] = values
    return {
      items,
      rollouts,
      mean_score: meanOfSum(score, rollouts),
      make_ms: meanOfSum(makeMs, items),
      score_ms: meanOfSum(scoreMs, answers),
    }
  }

  flush(): Promise<void> {
    return this.#sharedCounters.flush()
  }

  close(): Promise<void> {
    return this.#sharedCounters.close()
  }

  #add(task: string, amounts: Partial<Record<StatisticName, number>>): void {
    for (const name of STATISTIC_NAMES) this.#sharedCounters.add(formatStatisticField(task, name), amounts[name] ?? 0)
  }
}

function formatStatisticField(task: string, name: StatisticName): string {
  return `${task}:${name}`
}
