/** An item with its hardened rule, as the scripts and the tests ask for it: many answers at once, scored 0 where the library raises. */
import { defaultsOf, type Engine, type Made, type Place } from '../../src/engine/engine.ts'
import { SCORERS } from '../../src/scorers/catalogue.ts'
import { harden, readingsOf } from '../../src/scorers/hardened/catalogue.ts'
import { type Entry, InvalidAnswer } from '../../src/scorers/scorer.ts'
import type { Config } from '../../src/words/recipe.ts'

export interface HardenedItem extends Made {
  /** The hardened scores of many answers. */
  score(answers: readonly string[]): Promise<number[]>
}

type Upstream = (text: string) => number

/** The items that can be made in time; `config` is canonical. */
export async function hardenedItems(
  engine: Engine,
  task: string,
  config: Config,
  places: Place[],
): Promise<HardenedItem[]> {
  const full = { ...defaultsOf((await engine.tasks())[task]), ...config }
  const outcomes = await engine.items(task, config, places)
  return outcomes.flatMap((outcome, k) => {
    if (outcome.kind !== 'value') return []
    const made = outcome.value as Made // as the host makes them
    const seed = places[k]?.[0] ?? 0
    const native = SCORERS[task]?.(made.entry)
    const rule = (upstream: Upstream) => harden(task, { entry: made.entry, config: full, upstream })
    const bound = native && rule((text) => native(text, full))
    const score = async (answers: readonly string[]) => {
      const scored = bound ?? rule(await askedOf(engine, task, config, seed, made.entry, answers))
      return answers.map((answer) => orZero(() => scored(answer)))
    }
    return [{ ...made, score }]
  })
}

/** The library's scores of all readings of the answers, asked for at once. */
async function askedOf(
  engine: Engine,
  task: string,
  config: Config,
  seed: number,
  entry: Entry,
  answers: readonly string[],
): Promise<Upstream> {
  const texts = [...new Set(answers.flatMap(readingsOf))]
  const outcomes = await engine.score(task, config, seed, entry, texts)
  const scores = new Map(texts.map((text, k) => [text, outcomes[k]]))
  return (text) => {
    const outcome = scores.get(text)
    if (outcome?.kind !== 'value') throw new InvalidAnswer(outcome?.kind ?? 'not asked for')
    return Number(outcome.value)
  }
}

function orZero(score: () => number): number {
  try {
    return score()
  } catch (error) {
    if (error instanceof InvalidAnswer) return 0
    throw error
  }
}
