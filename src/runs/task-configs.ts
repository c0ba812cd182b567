/** The configs that a run's settings name for its tasks, judged before the run begins: nobody could make its items else. */
import type { Engine } from '../engine/engine.ts'
import { Fault } from '../faults.ts'
import { encodeItemId } from '../words/item-id.ts'
import { SEEDS_END } from '../words/recipe.ts'
import type { RunSettings } from '../words/run.ts'
import { plansOf, type TaskPlan } from './sequence.ts'

/** Throws `invalid_config` with the place in the settings, and `engine_unavailable`. */
export async function assertConfigs(
  settings: RunSettings,
  all: { name: string; category: string }[],
  engine: Pick<Engine, 'canonical' | 'version'>,
): Promise<void> {
  for (const { task, config } of plansOf(settings, all)) {
    if (config === undefined) continue
    try {
      const canonical = await engine.canonical(task, config)
      const place = { task, seed: SEEDS_END - 1, index: 0, difficulty: null }
      encodeItemId({ ...place, config: canonical, engine: engine.version })
    } catch (error) {
      throw error instanceof Fault && error.code === 'invalid_config' ? placed(error, settings, task, config) : error
    }
  }
}

function placed(fault: Fault, { tasks }: RunSettings, task: string, config: TaskPlan['config']): Fault {
  const at = tasks === 'all' ? -1 : tasks.findIndex((choice) => typeof choice !== 'string' && choice.config === config)
  const errors = fault.errors.length > 0 ? fault.errors : [{ path: 'config', message: fault.message }]
  return new Fault('invalid_config', `${task}: ${fault.message}`, {
    errors: errors.map(({ path, message }) => ({ path: `tasks.${at}.${path}`, message })),
  })
}
