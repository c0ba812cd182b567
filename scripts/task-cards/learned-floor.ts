/**
 * The learned floor: what a linear model of words, symbols and counts earns on unseen questions after 400 items. It finds
 * rules that no list of guesses contains, such as that the last gate of a circuit mostly decides its output.
 */
import type { HardenedItem } from '../../src/grading/hardened-item.ts'
import { computeMean, computeStderr, type GuessFloor, type Scoring, scoreAnswers } from './guess-floor.ts'
import { fitBestModel } from './linear-models.ts'

const FITTED_ITEMS = 400
/** Of all items, where there are fewer. */
const FITTED_SHARE = 4 / 9
/** Fewer questions than this that were not among the fitted ones say nothing. */
const MIN_UNSEEN = 50
/** Below this share of items whose answer another one has, there is nothing to choose from. */
const MIN_REPEATED = 0.05

/** Returns undefined if the answers hardly repeat, or the questions hardly differ. */
export async function measureLearnedFloor(
  items: readonly HardenedItem[],
  findAnswer: (item: HardenedItem) => string | undefined,
): Promise<Record<Scoring, GuessFloor> | undefined> {
  const fitted = items.slice(0, Math.min(FITTED_ITEMS, Math.round(items.length * FITTED_SHARE)))
  const examples = fitted.flatMap((item) => {
    const answer = findAnswer(item)
    return answer === undefined ? [] : [{ question: item.question, answer }]
  })
  const known = new Set(examples.map(({ question }) => question))
  const unseen = items.slice(fitted.length).filter(({ question }) => !known.has(question))
  if (unseen.length < MIN_UNSEEN || !doAnswersRepeat(examples.map(({ answer }) => answer))) return undefined
  const predict = fitBestModel(examples)
  const scores: Record<Scoring, number[]> = { upstream: [], hardened: [] }
  for (const item of unseen) {
    const answers = [predict(item.question)]
    for (const scoring of ['upstream', 'hardened'] as const)
      scores[scoring].push(...(await scoreAnswers(item, answers, scoring)))
  }
  const summarize = (values: number[]): GuessFloor => ({
    name: 'linear model of words and counts',
    mean: computeMean(values),
    stderr: computeStderr(values),
  })
  return { upstream: summarize(scores.upstream), hardened: summarize(scores.hardened) }
}

export function doAnswersRepeat(answers: readonly string[]): boolean {
  const repeated = [...Map.groupBy(answers, (answer) => answer).values()].filter(({ length }) => length > 1).flat()
  return repeated.length >= MIN_REPEATED * answers.length
}
