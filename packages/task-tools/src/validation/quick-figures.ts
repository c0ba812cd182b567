/** Floors of a task that has no card, from few items and guesses: what `validate` needs for a custom task. */
import type { Config } from '@reasoning-gym-server/contract/recipe'
import { getCorrectAnswer } from '@reasoning-gym-server/mock-model/answers'
import type { Engine, MakeScoredItems } from '../engine.ts'
import type { RungFigures, Scoring } from './checks.ts'

const ITEMS = 40
const FIRST_SEED = 700_000_000
/** Of the right answers of all items, as guesses. */
const FREQUENT_ANSWERS = 5

/** Guesses of a model that knows the form of the answer and nothing else. */
const GUESSES: ((question: string) => string)[] = [
  ...['', '0', '1', 'True', 'yes', 'A', '[]', 'nan', 'I am not sure'].map((text) => () => text),
  (question) => question,
  (question) => question.trimEnd().split('\n').at(-1) ?? '',
  (question) => question.match(/-?\d+(?:\.\d+)?/g)?.[0] ?? '',
  (question) => question.match(/-?\d+(?:\.\d+)?/g)?.at(-1) ?? '',
]

export async function measureFigures(
  { engine, makeItems }: { engine: Pick<Engine, 'canonicalizeConfig'>; makeItems: MakeScoredItems },
  task: string,
  config: Config,
): Promise<RungFigures> {
  const startedAt = performance.now()
  const places = Array.from({ length: ITEMS }, (_, k): [number, number] => [FIRST_SEED + k, 0])
  const items = await makeItems(task, await engine.canonicalizeConfig(task, config), places)
  const makeMs = (performance.now() - startedAt) / ITEMS
  if (items.length === 0) throw new Error(`${task}: no item can be made at ${JSON.stringify(config)}`)
  const answers = items.map(({ entry }) => getCorrectAnswer({ task, ...entry }) ?? '')
  const counts = [...Map.groupBy(answers, (answer) => answer)].toSorted(([, a], [, b]) => b.length - a.length)
  const frequent = counts.slice(0, FREQUENT_ANSWERS).map(
    ([answer]) =>
      () =>
        answer,
  )
  const guesses = [...GUESSES, ...frequent]
  const sums = { upstream: guesses.map(() => 0), hardened: guesses.map(() => 0) }
  const own = { upstream: 0, hardened: 0 }
  const neighbors = { upstream: 0, hardened: 0 }
  for (const [k, item] of items.entries()) {
    const texts = [
      ...guesses.map((guess) => guess(item.question)),
      answers[k] ?? '',
      answers[(k + 1) % answers.length] ?? '',
    ]
    for (const scoring of ['upstream', 'hardened'] as const) {
      const scores = await (scoring === 'upstream' ? item.scoreUpstream(texts) : item.score(texts))
      sums[scoring] = sums[scoring].map((sum, guess) => sum + clamp(scores[guess]))
      own[scoring] += clamp(scores.at(-2))
      neighbors[scoring] += clamp(scores.at(-1))
    }
  }
  const each = (read: (scoring: Scoring) => number) => ({ upstream: read('upstream'), hardened: read('hardened') })
  const floor = each((scoring) => Math.max(...sums[scoring]) / items.length)
  return {
    guess_floor: floor,
    guess_floor_stderr: each(
      (scoring) => Math.sqrt((floor[scoring] * (1 - floor[scoring])) / items.length) + 1 / ITEMS,
    ),
    lookup_floor: each((scoring) => neighbors[scoring] / items.length),
    learned_floor: null,
    best_attainable: each((scoring) => own[scoring] / items.length),
    distinct_in_1000: Math.round((1000 * new Set(items.map(({ question }) => question)).size) / items.length),
    make_ms: makeMs,
  }
}

const clamp = (score: number | undefined) => Math.min(1, Math.max(0, score ?? 0))
