/** Grades completions at once, without a run, and stores nothing. */
import { type Recipe, RecipeInput } from '@reasoning-gym-server/contract/recipe'
import type { ScoreRequest, ScoreResponse, ScoreRolloutInput } from '@reasoning-gym-server/contract/score'
import type { Verdict } from '@reasoning-gym-server/contract/verdict'
import type { Engine } from '../../engine/engine.ts'
import type { Grader, Submission } from '../../grading/grader.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { Items } from '../items/items.ts'

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
    const verdicts: Verdict[] = []
    await Promise.all(groupByItem(request).map((item) => this.#scoreItem(item, request, verdicts)))
    const rewards = verdicts.map(({ reward }) => reward)
    return request.detail === 'rewards' ? { rewards } : { rewards, verdicts }
  }

  /** Grades all completions of one item together. */
  async #scoreItem(
    { item, submissions, positions }: ItemSubmissions,
    request: ScoreRequest,
    verdicts: Verdict[],
  ): Promise<void> {
    const { grader, recorder } = this.#deps
    const recipe = await this.#resolveRecipe(item)
    const graded = await grader.grade(recipe, submissions, request)
    recorder.recordVerdicts(recipe.task, graded)
    graded.forEach((verdict, k) => {
      verdicts[positions[k] ?? 0] = verdict // one position for each submission
    })
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

/** The completions of one item, and their positions in the request. */
interface ItemSubmissions {
  item: ItemReference
  submissions: Submission[]
  positions: number[]
}

function groupByItem({ rollouts = [], groups = [] }: ScoreRequest): ItemSubmissions[] {
  const items: ItemSubmissions[] = []
  let byKey: Map<string, ItemSubmissions> | undefined // not needed for most bodies, which have a single item
  let current: ItemSubmissions | undefined
  let position = 0
  const getOrCreate = (item: ItemReference): ItemSubmissions => {
    const created: ItemSubmissions = { item, submissions: [], positions: [] }
    if (items.length > 0) {
      byKey ??= new Map(items.map((one) => [getItemKey(one.item), one]))
      const known = byKey.get(getItemKey(item))
      if (known) return known
      byKey.set(getItemKey(item), created)
    }
    items.push(created)
    return created
  }
  const add = (item: ItemReference, submission: Submission) => {
    if (current?.item.recipe !== item.recipe || current?.item.item_id !== item.item_id) current = getOrCreate(item)
    current?.submissions.push(submission)
    current?.positions.push(position++)
  }
  for (const rollout of rollouts) add(rollout, toSubmission(rollout))
  for (const group of groups) for (const completion of group.completions) add(group, { kind: 'completion', completion })
  return items
}

function getItemKey({ item_id, recipe }: ItemReference): string {
  return item_id ?? JSON.stringify(recipe)
}

function toSubmission({ completion, messages, answer }: ScoreRolloutInput): Submission {
  if (completion !== undefined) return { kind: 'completion', completion }
  return answer !== undefined ? { kind: 'answer', answer } : { kind: 'messages', messages: messages ?? [] }
}
