/** Checks the configs that a run's settings give for its tasks, before the run starts to make items with them. */

import { ServiceError } from '../../contract/errors.ts'
import { encodeItemId } from '../../contract/item-id.ts'
import { SEEDS_END } from '../../contract/recipe.ts'
import type { RunSettings } from '../../contract/run.ts'
import type { Engine } from '../../engine/engine.ts'
import { buildTaskPlans, type TaskPlan } from './sequence/sequence.ts'

/** Throws `invalid_config` with the place in the settings, and `engine_unavailable`. */
export async function assertTaskConfigs(
  settings: RunSettings,
  all: { name: string; category: string }[],
  engine: Pick<Engine, 'canonicalizeConfig' | 'version'>,
): Promise<void> {
  for (const { task, config } of buildTaskPlans(settings, all)) {
    if (config === undefined) continue
    try {
      const canonical = await engine.canonicalizeConfig(task, config)
      const place = { task, seed: SEEDS_END - 1, index: 0, difficulty: null }
      encodeItemId({ ...place, config: canonical, engine: engine.version })
    } catch (error) {
      throw error instanceof ServiceError && error.code === 'invalid_config'
        ? withSettingsPath(error, settings, task, config)
        : error
    }
  }
}

function withSettingsPath(
  fault: ServiceError,
  { tasks }: RunSettings,
  task: string,
  config: TaskPlan['config'],
): ServiceError {
  const at = tasks === 'all' ? -1 : tasks.findIndex((choice) => typeof choice !== 'string' && choice.config === config)
  const errors = fault.errors.length > 0 ? fault.errors : [{ path: 'config', message: fault.message }]
  return new ServiceError('invalid_config', `${task}: ${fault.message}`, {
    errors: errors.map(({ path, message }) => ({ path: `tasks.${at}.${path}`, message })),
  })
}
