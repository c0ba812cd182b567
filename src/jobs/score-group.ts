/** Scores a posted group: reads its completions, applies the run's rules, completes it. May run any number of times. */
import { Fault } from '../faults.ts'
import type { Items } from '../items/items.ts'
import type { Given, Judge } from '../items/judge.ts'
import type { Meters } from '../metrics/meters.ts'
import { feedOf } from '../runs/curriculum.ts'
import type { RunBook } from '../runs/run-book.ts'
import { type GroupResult, judgeGroup } from '../scoring/group.ts'
import type { GroupPlace, Groups } from '../store/groups.ts'
import type { TaskCatalogue } from '../tasks/catalogue.ts'
import type { Rollout } from '../words/rollout.ts'

interface Parts {
  groups: Groups
  items: Items
  judge: Judge
  runs: RunBook
  tasks: TaskCatalogue
  meters: Meters
}

const NO_COMPLETION = new Set(['abort', 'error'])

export function scoreGroup({ groups, items, judge, runs, tasks, meters }: Parts) {
  return async (place: GroupPlace, { last }: { last: boolean }): Promise<void> => {
    const stored = await groups.find(place)
    if (stored?.status !== 'queued' || !stored.input) return // done by another delivery, or of a run that is gone
    const { input } = stored
    const run = await runs.ensure(place.run)
    const { settings } = run
    const recipe = await items.open(input.item_id)
    let result: GroupResult
    try {
      const verdicts = await judge.verdicts(recipe, input.rollouts.map(givenOf), settings, true)
      result = judgeGroup(input.rollouts, verdicts, settings, input.buffer ?? settings.buffer)
    } catch (error) {
      if (!last || !(error instanceof Fault)) throw error
      result = failed(error)
    }
    const feed = feedOf(run, recipe, result.mean_score ?? null, tasks.list())
    if (await groups.complete(place, recipe.task, result, settings.keep_groups, feed))
      meters.verdicts(recipe.task, result.verdicts)
  }
}

export function givenOf({ completion, messages, finish_reason }: Rollout): Given {
  if (finish_reason && NO_COMPLETION.has(finish_reason))
    return { kind: 'nothing', detail: `finish_reason ${finish_reason}` }
  return completion === undefined ? { kind: 'messages', messages: messages ?? [] } : { kind: 'completion', completion }
}

function failed({ code, message }: Fault): GroupResult {
  return { status: 'failed', verdicts: [], destination: null, code, detail: message }
}
