/** Makes questions of recipes, on one engine or the same on several. */
import { createHash } from 'node:crypto'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { GeneratedItem } from '../../src/engine/engine.ts'
import type { PythonEngine } from '../../src/engine/python-engine.ts'

/** A line of a suite's file. */
export interface SuiteLine {
  id: string
  /** SHA-256 of the question. */
  hash: string
}

/** The items that each engine makes, with the same question; the others give way. */
export async function makeStableLines(engines: PythonEngine[], recipes: Recipe[]): Promise<SuiteLine[]> {
  const made = await Promise.all(engines.map((engine, k) => makeInOrder(engine, recipes, k % 2 === 1)))
  return recipes.flatMap((recipe, k) => {
    const [question, ...others] = made.map((questions) => questions[k])
    if (question === undefined || others.some((other) => other !== question)) return []
    return { id: encodeItemId(recipe), hash: createHash('sha256').update(question).digest('hex') }
  })
}

/** The questions of recipes, in order; undefined where one cannot be made. */
export async function makeQuestions(engine: PythonEngine, recipes: Recipe[]): Promise<(string | undefined)[]> {
  const questions: (string | undefined)[] = []
  const groups = Map.groupBy(recipes.keys(), (k) => `${recipes[k]?.task} ${JSON.stringify(recipes[k]?.config)}`)
  for (const places of groups.values()) {
    const at = [...places]
    const some = at.flatMap((k) => recipes[k] ?? [])
    const [one] = some
    if (!one) continue
    const outcomes = await engine.generateItems(
      one.task,
      one.config,
      some.map(({ seed, index }) => [seed, index]),
    )
    at.forEach((k, n) => {
      const outcome = outcomes[n]
      questions[k] = outcome?.kind === 'value' ? (outcome.value as GeneratedItem).question : undefined // as worker.py makes items
    })
  }
  return questions
}

/** Backwards, an item comes after others than before: one that depends on them differs. */
async function makeInOrder(
  engine: PythonEngine,
  recipes: Recipe[],
  backwards: boolean,
): Promise<(string | undefined)[]> {
  if (!backwards) return makeQuestions(engine, recipes)
  return (await makeQuestions(engine, recipes.toReversed())).reverse()
}
