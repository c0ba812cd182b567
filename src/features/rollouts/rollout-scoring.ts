/** Grades completions at once, without a run, and stores nothing. */
import { type Recipe, RecipeInput } from '@reasoning-gym-server/contract/recipe'
import type { ScoreRequest, ScoreResponse, ScoreRolloutInput } from '@reasoning-gym-server/contract/score'
import type { Verdict } from '@reasoning-gym-server/contract/verdict'
import type { Engine } from '../../engine/engine.ts'
import type { Grader } from '../../grading/grader.ts'
import type { Submission } from '../../grading/submission.ts'
import { discountReward } from '../../grading/tries.ts'
import { EventLoopBudget } from '../../platform/event-loop-budget.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { Items } from '../items/items.ts'

const budget = new EventLoopBudget()

interface RolloutScoringDeps {
  engine: Pick<Engine, 'assertReady'>
  items: Items
  grader: Grader
  recorder: MetricsRecorder
}

export class RolloutScoring {
  readonly #deps: RolloutScoringDeps

  constructor(deps: RolloutScoringDeps) {
    this.#deps = deps
  }

  /** Returns one verdict for each completion, in the order of the request. */
  async score(request: ScoreRequest): Promise<ScoreResponse> {
    this.#deps.engine.assertReady()
    const verdicts = await scoreByItem(
      listCompletions(request),
      ({ itemKey }) => itemKey,
      (completions) => this.#scoreItem(completions, request),
    )
    const rewards = verdicts.map(({ reward }) => reward)
    return request.detail === 'rewards' ? { rewards } : { rewards, verdicts }
  }

  async #scoreItem(completions: readonly CompletionOfItem[], request: ScoreRequest): Promise<Verdict[]> {
    const { grader, recorder } = this.#deps
    const recipe = await this.#resolveRecipe(completions[0]?.item ?? {})
    const submissions = completions.map(({ submission }) => submission)
    const verdicts = await grader.grade(recipe, submissions, request)
    for (const verdict of verdicts) if (verdict.status === 'scored') discountReward(verdict, request.try_discount)
    recorder.recordVerdicts(recipe.task, verdicts)
    return verdicts
  }

  #resolveRecipe({ item_id, recipe }: ItemReference): Promise<Recipe> {
    const { items } = this.#deps
    if (item_id !== undefined) return items.resolveItemId(item_id)
    return items.resolveRecipe(recipe ?? RecipeInput.parse({})) // the schema requires one of the two
  }
}

interface ItemReference {
  item_id?: string | undefined
  recipe?: RecipeInput | undefined
}

interface CompletionOfItem {
  item: ItemReference
  itemKey: string
  submission: Submission
}

function listCompletions({ rollouts = [], groups = [] }: ScoreRequest): CompletionOfItem[] {
  const alone = rollouts.map((item) => ({ item, itemKey: getItemKey(item), submission: toSubmission(item) }))
  const grouped = groups.flatMap((item) => {
    const itemKey = getItemKey(item)
    return item.completions.map((completion): CompletionOfItem => {
      return { item, itemKey, submission: { kind: 'completion', completion } }
    })
  })
  return [...alone, ...grouped]
}

function getItemKey({ item_id, recipe }: ItemReference): string {
  return item_id ?? JSON.stringify(recipe)
}

/** The schemas of the inputs require one of them. */
export function toSubmission({
  completion,
  messages,
  answer,
  turns,
}: Pick<ScoreRolloutInput, 'completion' | 'messages' | 'answer' | 'turns'>): Submission {
  if (completion !== undefined) return { kind: 'completion', completion }
  if (turns) return { kind: 'turns', turns }
  return answer !== undefined ? { kind: 'answer', answer } : { kind: 'messages', messages: messages ?? [] }
}

/**
 * Scores the completions of one call, which may be of many items: those of one item together, because they share its entry.
 * Returns the results in the order of `members`. Rejects as soon as the scoring of one item does.
 */
export async function scoreByItem<Member, Result>(
  members: readonly Member[],
  keyOf: (member: Member) => string | undefined,
  scoreItem: (members: readonly Member[]) => Promise<Result[]>,
): Promise<Result[]> {
  const [first] = members
  if (first === undefined) return []
  const firstKey = keyOf(first)
  if (members.every((member) => keyOf(member) === firstKey)) return scoreItem(members) // nearly every call
  const items = Map.groupBy(members.entries(), ([, member]) => keyOf(member))
  const results: Result[] = []
  const placed = Array.from(items.values(), async (item) => {
    const scored = await budget.run(() => scoreItem(item.map(([, member]) => member)))
    for (const [k, result] of scored.entries()) {
      const [position = 0] = item[k] ?? [] // one result for each member
      results[position] = result
    }
  })
  await Promise.all(placed)
  return results
}
