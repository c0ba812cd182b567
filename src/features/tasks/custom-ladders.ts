/** Verifies the ladder of a custom task: each rung must make items in time that score 1.0 with their own answers. */

import type { CustomTaskDefinition, Engine, EngineOutcome, GeneratedItem } from '../../engine/engine.ts'
import type { Ladders } from './ladders.ts'

/** Seeds of the items that are made at each rung. */
const SEEDS = [1, 2, 3]
/** For all levels of a task: a server that starts waits for it. */
const TIME_LIMIT_MS = 30_000

interface Deps {
  engine: Pick<Engine, 'generateItems' | 'score'>
  ladders: Ladders
}

/** Gives the task its ladder, or the reason why it has none. */
export async function verifyCustomLadder(
  { engine, ladders }: Deps,
  task: string,
  custom: CustomTaskDefinition,
): Promise<void> {
  const configs = custom.ladder.filter((config, k) => JSON.stringify(config) !== JSON.stringify(custom.ladder[k - 1]))
  if (configs.length < 2)
    return ladders.setReason(task, custom.no_ladder_reason ?? 'its curriculum has fewer than two different levels')
  const startedAt = performance.now()
  for (const [level, config] of configs.entries()) {
    if (performance.now() - startedAt > TIME_LIMIT_MS)
      return ladders.setReason(
        task,
        `the items of its levels take more than ${TIME_LIMIT_MS / 1000} s to make and score`,
      )
    const items = await engine.generateItems(
      task,
      config,
      SEEDS.map((seed) => [seed, 0]),
    )
    for (const [k, outcome] of items.entries()) {
      const place = `level ${level} of its curriculum, seed ${SEEDS[k]}`
      if (outcome.kind !== 'value') return ladders.setReason(task, `${place}: ${describeOutcome(outcome)}`)
      const { entry } = outcome.value as GeneratedItem // as the engine checks
      const [score] = await engine.score(task, config, SEEDS[k] ?? 0, entry, [entry.answer ?? ''])
      if (score?.kind !== 'value' || score.value !== 1)
        return ladders.setReason(task, `${place}: its own answer ${describeScore(score)} instead of scoring 1.0`)
    }
  }
  ladders.set(task, configs)
}

function describeScore(outcome: EngineOutcome | undefined): string {
  if (outcome?.kind === 'value') return `scores ${String(outcome.value)}`
  return `${outcome?.kind === 'raised' ? 'raises' : 'is not scored:'} ${outcome?.detail ?? 'no result'}`
}

function describeOutcome(outcome: EngineOutcome): string {
  return outcome.kind === 'value' ? String(outcome.value) : outcome.detail
}
