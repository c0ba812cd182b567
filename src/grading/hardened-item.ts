/** An item with its two rules, as the scripts and the tests ask for it: many answers at once, scored 0 where the library raises. */
import type { Config } from '@reasoning-gym-server/contract/recipe'
import { getClarification, getRightKey, isAnswerable } from '@reasoning-gym-server/scorers/corrections/corrections'
import { createHardenedRule, listUndecidedReadings } from '@reasoning-gym-server/scorers/hardened/hardened-scorers'
import { listAnswerVariants } from '@reasoning-gym-server/scorers/hardened/notations'
import { NATIVE_SCORERS } from '@reasoning-gym-server/scorers/native-scorers'
import { InvalidAnswerError } from '@reasoning-gym-server/scorers/scorer'
import type { ScoredItem } from '@reasoning-gym-server/task-tools/engine'
import {
  type DatasetPosition,
  type Engine,
  type EngineOutcome,
  type GeneratedItem,
  getConfigDefaults,
} from '../engine/engine.ts'
import { needsRun, scoreByRun } from './program-runs.ts'

export interface HardenedItem extends ScoredItem {
  isAnswerable: boolean
  clarification: string | null
}

type UpstreamRule = (text: string) => number

/** The items that can be made in time; `config` is canonical. */
export async function makeHardenedItems(
  engine: Engine,
  task: string,
  config: Config,
  places: DatasetPosition[],
): Promise<HardenedItem[]> {
  const full = { ...getConfigDefaults((await engine.tasks())[task]), ...config }
  const outcomes = await engine.generateItems(task, config, places)
  return outcomes.flatMap((outcome, k) => {
    if (outcome.kind !== 'value') return []
    const made = outcome.value as GeneratedItem // as the host makes them
    const seed = places[k]?.[0] ?? 0
    const item = { entry: made.entry, config: full }
    const native = NATIVE_SCORERS[task]?.(made.entry)
    const fetchScores = createScoreFetcher((texts) => engine.score(task, config, seed, made.entry, texts))
    const fetchHardened = needsRun(task, made.entry)
      ? createScoreFetcher((texts) => scoreByRun(engine, { config, seed }, made.entry, texts))
      : fetchScores
    const rule = (upstream: UpstreamRule) => createHardenedRule(task, { ...item, upstream })
    const bound = native && rule((text) => native(text, full))
    const score = async (answers: readonly string[]) => {
      const scored = bound ?? rule(await fetchHardened(listUndecidedReadings(task, item, answers)))
      return answers.map((answer) => scoreOrZero(() => scored(answer)))
    }
    const scoreUpstream = async (answers: readonly string[]) => {
      const scored = native ? (text: string) => native(text, full) : await fetchScores(answers)
      return answers.map((answer) => scoreOrZero(() => scored(answer)))
    }
    return [
      {
        ...made,
        isAnswerable: isAnswerable(task, made.entry),
        clarification: getClarification(task, made.entry),
        rightKey: getRightKey(task, item),
        score,
        scoreUpstream,
      },
    ]
  })
}

/** The library's scores of all readings of some answers, asked for at once, and each only once for an item. */
function createScoreFetcher(fetchScores: (texts: string[]) => Promise<EngineOutcome[]>) {
  const scores = new Map<string, EngineOutcome | undefined>()
  return async (answers: readonly string[]): Promise<UpstreamRule> => {
    const texts = [...new Set(answers.flatMap(listAnswerVariants))].filter((text) => !scores.has(text))
    const outcomes = texts.length > 0 ? await fetchScores(texts) : []
    for (const [k, text] of texts.entries()) scores.set(text, outcomes[k])
    return (text) => {
      const outcome = scores.get(text)
      if (outcome?.kind !== 'value') throw new InvalidAnswerError(outcome?.kind ?? 'not asked for')
      return Number(outcome.value)
    }
  }
}

function scoreOrZero(score: () => number): number {
  try {
    return score()
  } catch (error) {
    if (error instanceof InvalidAnswerError) return 0
    throw error
  }
}
