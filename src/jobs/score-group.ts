/** Scores a posted group: reads its completions, applies the run's rules, completes it. May run any number of times. */
import type { Dumps } from '../dumps/dumps.ts'
import { dumpedGroup } from '../dumps/record.ts'
import { Fault } from '../faults.ts'
import type { Items } from '../items/items.ts'
import type { Given, Judge } from '../items/judge.ts'
import type { Meters } from '../metrics/meters.ts'
import { feedOf } from '../runs/curriculum.ts'
import type { Handout } from '../runs/handout.ts'
import type { RunBook } from '../runs/run-book.ts'
import { type GroupResult, judgeGroup } from '../scoring/group.ts'
import { factsOf } from '../store/facts.ts'
import type { GroupPlace, Groups } from '../store/groups.ts'
import type { GroupTexts } from '../store/payload.ts'
import { redisFault } from '../store/redis.ts'
import type { TaskCatalogue } from '../tasks/catalogue.ts'
import { decodeItemId } from '../words/item-id.ts'

interface Parts {
  groups: Groups
  items: Items
  judge: Judge
  runs: RunBook
  tasks: TaskCatalogue
  meters: Meters
  dumps: Dumps
  handout: Handout
}

const INTERNAL = new Fault('internal', 'The server failed; GET /jobs/failed has the reason')
const NO_COMPLETION = new Set(['abort', 'error'])

export function scoreGroup({ groups, items, judge, runs, tasks, meters, dumps, handout }: Parts) {
  return async (place: GroupPlace, { last }: { last: boolean }): Promise<void> => {
    const stored = await groups.find(place)
    const texts = stored?.status === 'queued' ? await groups.texts(place) : undefined
    if (!stored?.about || !texts) return // done by another delivery, or of a run that is gone
    const { about, wants } = stored
    const run = await runs.ensure(place.run)
    const { settings } = run
    const recipe = decodeItemId(about.item_id)
    let result: GroupResult
    let failure: unknown
    try {
      await items.open(about.item_id)
      const verdicts = await judge.verdicts(recipe, texts.rollouts.map(givenOf), settings, true)
      result = judgeGroup(about.rollouts, verdicts, settings, wants)
    } catch (error) {
      if (!last) throw error
      failure = redisFault(error)
      result = failed(failure)
    }
    const feed = feedOf(run, recipe, result.mean_score ?? null, tasks.list())
    const facts = factsOf(place.group, recipe.task, about, result)
    const dumped = { run: run.name, uuid: run.uuid }
    const dump = await dumps.offer(dumped, settings, result, async () => {
      const prompt = await items.messages(recipe, settings)
      return dumpedGroup({ run: run.name, group: place.group, recipe, prompt, about, texts, result })
    })
    const completion = {
      task: recipe.task,
      result,
      facts,
      retriable: failure !== undefined,
      keep: settings.keep_groups,
      feed,
      dump,
    }
    const done = await groups.complete(place, completion)
    if (dump) await dumps.settle(dumped, dump, done?.kept)
    if (done) meters.verdicts(recipe.task, result.verdicts)
    if (done?.level && done.level.before !== done.level.after) await handout.prepare(run) // it may have left a rung
    if (failure !== undefined) throw failure // into the failed set, with its reason
  }
}

export function givenOf({ completion, messages, finish_reason }: GroupTexts['rollouts'][number]): Given {
  if (finish_reason && NO_COMPLETION.has(finish_reason))
    return { kind: 'nothing', detail: `finish_reason ${finish_reason}` }
  return completion === undefined ? { kind: 'messages', messages: messages ?? [] } : { kind: 'completion', completion }
}

function failed(error: unknown): GroupResult {
  const { code, message } = error instanceof Fault ? error : INTERNAL
  return { status: 'failed', verdicts: [], destination: null, code, detail: message }
}
