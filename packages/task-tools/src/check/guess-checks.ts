/** Checks what a task pays for answers that need no thought: one guess for every question, and texts that list all answers. */
import { type Finding, fail, ok, warn } from '@reasoning-gym-server/contract/finding'
import { type CheckContext, describeOutcome, type MadeItem, quote, scoreAll } from './item-checks.ts'

/** Answers that a model may give to any question. */
const USUAL_GUESSES = [
  '',
  ...'0 1 2 -1 10 0.5 yes no Yes No true false True False None a A B C D [] {} ()'.split(' '),
  'I do not know',
]
/** The most frequent answers of other items, which a model learns first. */
const FREQUENT_GUESSES = 10
/** Each guess is scored on this many items. */
const GUESSED_ITEMS = 40
/** A model that guesses earns this without learning anything. */
const MAX_GUESS = 0.25
const WORTHLESS_GUESS = 0.75
/** Answers that a list has beside the right one, and items whose answers make the vocabulary. */
const LISTED_ANSWERS = 20
const LISTED_ITEMS = 20
/** A list may earn this much more than the best guess. */
const MAX_LIST_EXCESS = 0.1

export async function checkGuesses(context: CheckContext, items: MadeItem[]): Promise<Finding[]> {
  const counts = Map.groupBy(items, ({ entry }) => entry.answer ?? '')
  const frequent = [...counts].toSorted(([, a], [, b]) => b.length - a.length).map(([answer]) => answer)
  const guesses = [...new Set([...USUAL_GUESSES, ...frequent.slice(0, FREQUENT_GUESSES)])]
  const best = await findBest(context, items.slice(0, GUESSED_ITEMS), () => guesses)
  if ('finding' in best) return [best.finding]
  return [judgeGuess(guesses[best.place] ?? '', best.mean), await checkLists(context, items, best.mean)]
}

/** The best mean score of one answer that is given to every question. */
function judgeGuess(guess: string, mean: number): Finding {
  const found = `the best guess, always ${quote(guess)}, scores ${mean.toFixed(2)} on average`
  if (mean < MAX_GUESS) return ok('guesses', found)
  const advice =
    'a model earns this without learning: ask for more than a few possible answers, or give less for a part'
  return mean < WORTHLESS_GUESS ? warn('guesses', found, advice) : fail('guesses', found, advice)
}

/** A scorer that searches the answer for the right one also finds it in a list. */
async function checkLists(context: CheckContext, items: MadeItem[], floor: number): Promise<Finding> {
  const vocabulary = [...new Set(items.flatMap(({ entry }) => (entry.answer ?? '').split(/[\s,;]+/)))].join(' ')
  const write = (item: MadeItem) => listGuesses(item, items, vocabulary)
  const best = await findBest(context, items.slice(0, LISTED_ITEMS), (item) => write(item).map(({ text }) => text))
  if ('finding' in best) return best.finding
  const [item] = items
  const { name, text } = (item && write(item)[best.place]) ?? { name: 'nothing', text: '' }
  const found = `${name}, such as ${quote(text)}, scores ${best.mean.toFixed(2)} on average`
  if (best.mean <= floor + MAX_LIST_EXCESS)
    return ok('lists', `no list of answers scores more than ${best.mean.toFixed(2)}`)
  const advice =
    'a model learns to list everything: compare the whole answer, or each of its parts, instead of searching it for the right one'
  return fail('lists', found, advice)
}

function listGuesses({ question, entry }: MadeItem, items: MadeItem[], vocabulary: string) {
  const own = entry.answer ?? ''
  const others = [...new Set(items.map((item) => item.entry.answer ?? ''))].filter((answer) => answer !== own)
  const listed = [...others.slice(0, LISTED_ANSWERS / 2), own, ...others.slice(LISTED_ANSWERS / 2, LISTED_ANSWERS)]
  return [
    ...[' ', ', ', '\n'].map((joint) => ({ name: 'a list with the answers of other items', text: listed.join(joint) })),
    { name: 'a list of all words of the answers', text: vocabulary },
    { name: 'the question repeated', text: question },
  ].map((one) => (one.text.trim() === own.trim() ? { ...one, text: '' } : one)) // if all items have one answer
}

/** Scores the answers to each item, as many for all items. Returns the place of the one with the best mean score. */
async function findBest(
  context: CheckContext,
  items: MadeItem[],
  answer: (item: MadeItem) => string[],
): Promise<{ place: number; mean: number } | { finding: Finding }> {
  const sums: number[] = []
  for (const item of items) {
    const answers = answer(item)
    const outcomes = await scoreAll(context, item, answers)
    const lost = outcomes.findIndex(({ kind }) => kind === 'lost')
    if (lost >= 0) {
      const found = `always ${quote(answers[lost] ?? '')}: ${describeOutcome(outcomes[lost])}`
      return { finding: fail('guesses', found, 'score_answer must return for any text, in time') }
    }
    for (const [k, outcome] of outcomes.entries())
      sums[k] = (sums[k] ?? 0) + (outcome.kind === 'value' ? Number(outcome.value) : 0)
  }
  const most = Math.max(...sums)
  return { place: sums.indexOf(most), mean: most / items.length }
}
