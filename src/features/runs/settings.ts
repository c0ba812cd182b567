/** The values that a run's settings may have, and what a change of them does to the run. */
import { canonicalJson } from '@reasoning-gym-server/codec/content-hash'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { SEEDS_END } from '@reasoning-gym-server/contract/recipe'
import {
  type RunSettings,
  resolveSettings,
  type SettingsChange,
  TASK_GROUPS,
} from '@reasoning-gym-server/contract/run-settings'
import type { Engine } from '../../engine/engine.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import { buildTaskPlans, type TaskPlan } from './sequence/sequence.ts'

/** Settings for which null is a value. For all others, null restores the default. */
const NULLABLE_SETTINGS = new Set(['system_prompt'])
/**
 * Changing these settings changes the item sequence: a new mix of tasks from the next position on, or with a new seed the
 * items of all positions.
 */
const SEQUENCE_SETTINGS = ['seed', 'tasks', 'exclude'] as const
/** Changing these settings keeps the sequence but discards the prefetched items. */
const REMAKE_SETTINGS = [
  'complexity_mode',
  'difficulty',
  'sampling',
  'scoring',
  'curriculum_start',
  'exclude_eval_items',
  'avoid_repeated_items',
]

interface SettingsRulesDeps {
  tasks: TaskCatalog
  engine: Pick<Engine, 'canonicalizeConfig' | 'version'>
}

export class SettingsRules {
  readonly #deps: SettingsRulesDeps

  constructor(deps: SettingsRulesDeps) {
    this.#deps = deps
  }

  /** Returns the effective settings. Throws `invalid_request` and `unknown_task`. */
  validate(explicitSettings: SettingsChange): RunSettings {
    const settings = resolveSettings(explicitSettings)
    assertBatchFitsBuffer(settings)
    this.#assertTasksKnown(settings)
    if (this.#buildPlans(settings).every(({ weight }) => weight === 0)) {
      const reason = settings.exclude.length > 0 ? '`exclude` leaves out all of them' : 'no task has a weight above 0'
      throw new ServiceError('invalid_request', `The run has no tasks: ${reason}. Select at least one.`, {
        errors: [
          { path: 'tasks', message: 'must have a task with a weight above 0 that `exclude` does not leave out' },
        ],
      })
    }
    return settings
  }

  /**
   * Validates the task configs before the run creates items with them. Throws `invalid_config`, with the path in the
   * settings, and `engine_unavailable`.
   */
  async validateTaskConfigs(settings: RunSettings): Promise<void> {
    const { engine } = this.#deps
    for (const { task, config } of this.#buildPlans(settings)) {
      if (config === undefined) continue
      try {
        const canonical = await engine.canonicalizeConfig(task, config)
        const longestRecipe = { task, seed: SEEDS_END - 1, index: 0, difficulty: null }
        encodeItemId({ ...longestRecipe, config: canonical, engine: engine.version })
      } catch (error) {
        throw error instanceof ServiceError && error.code === 'invalid_config'
          ? withSettingsPath(error, settings, task, config)
          : error
      }
    }
  }

  compare(before: RunSettings, after: RunSettings) {
    const keys = Object.keys(after) as (keyof RunSettings)[] // the keys are those of RunSettings
    const changed: string[] = keys.filter((key) => !isDeepEqual(before[key], after[key]))
    return {
      changed,
      sequence: SEQUENCE_SETTINGS.filter((key) => changed.includes(key) && this.#changesSequence(key, before, after)),
      remakesItems: REMAKE_SETTINGS.some((key) => changed.includes(key)),
    }
  }

  /** Whether the change has an effect on the sequence. A task with weight 1 equals the task name alone. */
  #changesSequence(key: (typeof SEQUENCE_SETTINGS)[number], before: RunSettings, after: RunSettings): boolean {
    if (key === 'seed') return true
    const { tasks, exclude } = after
    return !isDeepEqual(this.#buildPlans(before), this.#buildPlans({ ...before, tasks, exclude }))
  }

  #assertTasksKnown({ tasks: choices, exclude }: RunSettings): void {
    const { tasks } = this.#deps
    if (choices !== 'all')
      for (const [k, choice] of choices.entries())
        tasks.assertKnown(typeof choice === 'string' ? choice : choice.task, {
          path: `tasks.${k}`,
          message: 'must be a task or `category:NAME`',
        })
    for (const [k, choice] of exclude.entries())
      if (!TASK_GROUPS.some((group) => group === choice))
        tasks.assertKnown(choice, {
          path: `exclude.${k}`,
          message: `must be a task, \`category:NAME\`, \`${TASK_GROUPS.join('` or `')}\``,
        })
  }

  #buildPlans(settings: RunSettings): TaskPlan[] {
    return buildTaskPlans(settings, this.#deps.tasks.list())
  }
}

/** Returns the explicit settings of a run with the tasks of one of its mixes. */
export function withMix(
  { explicitSettings }: { explicitSettings: SettingsChange },
  { tasks, exclude }: Pick<RunSettings, 'tasks' | 'exclude'>,
): SettingsChange {
  const now = resolveSettings(explicitSettings)
  return {
    ...explicitSettings,
    ...(!isDeepEqual(now.tasks, tasks) && { tasks }),
    ...(!isDeepEqual(now.exclude, exclude) && { exclude }),
  }
}

/** Returns the explicit settings after a change. Null removes a setting. */
export function mergeSettings(explicitSettings: SettingsChange, change: SettingsChange): SettingsChange {
  const entries = Object.entries({ ...explicitSettings, ...change })
  return Object.fromEntries(
    entries.filter(([key, value]) => value !== undefined && (value !== null || NULLABLE_SETTINGS.has(key))),
  )
}

/** Compares as JSON, regardless of the order of keys. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b)
}

function assertBatchFitsBuffer({ buffer_max_groups, group_size, batch_size }: RunSettings): void {
  if (buffer_max_groups * group_size >= batch_size) return
  throw new ServiceError(
    'invalid_request',
    `The buffer is smaller than a batch: buffer_max_groups (${buffer_max_groups}) × group_size (${group_size}) is below batch_size (${batch_size}). Raise buffer_max_groups, or lower batch_size.`,
    {
      errors: [
        {
          path: 'buffer_max_groups',
          message: `multiplied by group_size must be at least batch_size (${batch_size})`,
        },
      ],
    },
  )
}

function withSettingsPath(
  error: ServiceError,
  { tasks }: RunSettings,
  task: string,
  config: TaskPlan['config'],
): ServiceError {
  const index =
    tasks === 'all' ? -1 : tasks.findIndex((choice) => typeof choice !== 'string' && choice.config === config)
  const errors = error.errors.length > 0 ? error.errors : [{ path: 'config', message: error.message }]
  return new ServiceError('invalid_config', `The task ${task} rejects its config: ${error.message}`, {
    errors: errors.map(({ path, message }) => ({ path: `tasks.${index}.${path}`, message })),
  })
}
