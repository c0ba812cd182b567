/** Validates the task configs in a run's settings before the run creates items with them. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { SEEDS_END } from '@reasoning-gym-server/contract/recipe'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import type { Engine } from '../../engine/engine.ts'
import { buildTaskPlans, type TaskPlan } from './sequence/sequence.ts'

/** Throws `invalid_config` with the path in the settings, and `engine_unavailable`. */
export async function assertTaskConfigs(
  settings: RunSettings,
  catalog: { name: string; category: string }[],
  engine: Pick<Engine, 'canonicalizeConfig' | 'version'>,
): Promise<void> {
  for (const { task, config } of buildTaskPlans(settings, catalog)) {
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

function withSettingsPath(
  error: ServiceError,
  { tasks }: RunSettings,
  task: string,
  config: TaskPlan['config'],
): ServiceError {
  const index =
    tasks === 'all' ? -1 : tasks.findIndex((choice) => typeof choice !== 'string' && choice.config === config)
  const errors = error.errors.length > 0 ? error.errors : [{ path: 'config', message: error.message }]
  return new ServiceError('invalid_config', `${task}: ${error.message}`, {
    errors: errors.map(({ path, message }) => ({ path: `tasks.${index}.${path}`, message })),
  })
}
