/** Checks what a task says about answers: nothing about right ones, in time, and something about a wrong one. */
import { type Finding, fail, ok, warn } from '@reasoning-gym-server/contract/finding'
import type { EngineOutcome } from '../engine.ts'
import { seededRandom } from '../seeded-random.ts'
import { type CheckContext, describeOutcome, formatMs, type MadeItem, measureUsual, quote } from './item-checks.ts'
import { generateMutants } from './mutants.ts'

const ITEMS_WITH_WRONG_ANSWERS = 20
/** Answers that are almost right or garbage, per item. */
const MUTANTS = 25
const SLOW_EXPLANATION_MS = 20

export async function checkFeedback({ engine, task }: CheckContext, items: MadeItem[]): Promise<Finding> {
  const random = seededRandom(1)
  const times: number[] = []
  let wrong = 0
  let explained = 0
  const explain = async ({ question, position }: MadeItem, answers: string[]) => {
    const startedAt = performance.now()
    const outcomes = await engine.explain(task, question, answers)
    times.push((performance.now() - startedAt) / answers.length)
    const failed = outcomes.findIndex(({ kind }) => kind !== 'value')
    const problem = `seed ${position[0]}: explain_answer of ${quote(answers[failed] ?? '')} ${describeFailure(outcomes[failed])}`
    return { outcomes, problem: failed < 0 ? undefined : problem }
  }
  const failed = (problem: string) =>
    fail(
      'feedback',
      problem,
      'explain_answer(question, answer) must be static, and return a text or None for any answer',
    )

  for (const item of items) {
    const right = item.entry.answer ?? ''
    const { outcomes, problem } = await explain(item, [right])
    if (problem !== undefined) return failed(problem)
    if (outcomes[0]?.kind !== 'value' || outcomes[0].value === null) continue
    const found = `seed ${item.position[0]}: of its own answer ${quote(right)} it says ${describeOutcome(outcomes[0])}`
    return fail('feedback', found, 'explain_answer must return None where the question shows nothing wrong')
  }
  for (const [k, item] of items.slice(0, ITEMS_WITH_WRONG_ANSWERS).entries()) {
    const mutants = generateMutants(item.entry.answer ?? '', items[k + 1]?.entry.answer ?? '42', MUTANTS, random)
    const texts = [...new Set(mutants)]
    const scores = await engine.score(task, {}, item.position[0], item.entry, texts)
    const answers = texts.filter((_, n) => !isRight(scores[n]))
    if (answers.length === 0) continue
    const { outcomes, problem } = await explain(item, answers)
    if (problem !== undefined) return failed(problem)
    wrong += answers.length
    explained += outcomes.filter((outcome) => outcome.kind === 'value' && outcome.value !== null).length
  }
  if (explained === 0) {
    const advice = 'name the first rule of the question that an answer breaks, or remove explain_answer'
    return fail('feedback', `it says nothing about any of ${wrong} wrong answers`, advice)
  }
  const usual = measureUsual(times)
  const found = `${explained} of ${wrong} wrong answers are explained, and no right one, in ${formatMs(usual)} each`
  if (usual <= SLOW_EXPLANATION_MS) return ok('feedback', found)
  return warn('feedback', found, 'a trainer posts thousands of answers at once: explain without searching')
}

function isRight(outcome: EngineOutcome | undefined): boolean {
  return outcome?.kind === 'value' && Number(outcome.value) >= 1
}

function describeFailure(outcome: EngineOutcome | undefined): string {
  return outcome?.kind === 'raised' ? `raises ${outcome.detail}` : `fails: ${describeOutcome(outcome)}`
}
