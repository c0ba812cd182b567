/** Scores a posted group: reads its completions, applies the run's rules, completes it. May run any number of times. */

import type { Logger } from 'pino'
import { ByteRoom } from '../byte-room.ts'
import type { Dumps } from '../dumps/dumps.ts'
import { dumpedGroup } from '../dumps/record.ts'
import type { Engine } from '../engine/engine.ts'
import { Fault } from '../faults.ts'
import type { Items } from '../items/items.ts'
import type { Given, Judge, Trace } from '../items/judge.ts'
import type { FormatFaults } from '../logs/format-faults.ts'
import { judgingLine } from '../logs/judging.ts'
import { runLog } from '../logs/run-log.ts'
import type { Meters } from '../metrics/meters.ts'
import { type Again, ENGINE_DOWN } from '../queue/catalogue.ts'
import { feedOf } from '../runs/curriculum.ts'
import type { Handout } from '../runs/handout.ts'
import type { OpenRun } from '../runs/open-run.ts'
import { changing } from '../runs/refusals.ts'
import type { RunBook } from '../runs/run-book.ts'
import { type GroupResult, judgeGroup } from '../scoring/group.ts'
import { factsOf } from '../store/facts.ts'
import { type Completed, type GroupPlace, type Groups, noticeOf, type QueuedGroup } from '../store/groups.ts'
import type { GroupTexts } from '../store/payload.ts'
import { redisFault } from '../store/redis.ts'
import type { TaskCatalogue } from '../tasks/catalogue.ts'
import { decodeItemId } from '../words/item-id.ts'

interface Parts {
  engine: Pick<Engine, 'health'>
  groups: Groups
  items: Items
  judge: Judge
  runs: RunBook
  tasks: TaskCatalogue
  meters: Meters
  dumps: Dumps
  handout: Handout
  faults: FormatFaults
  log: Logger
}

const INTERNAL = new Fault('internal', 'The server failed; GET /jobs/failed has the reason')
type Posted = GroupPlace & { request?: string | undefined; text_bytes?: number | undefined }

/** What a worker holds of texts at once: many small groups, or few large ones. */
const ROOM_BYTES = 256 * 1024 * 1024

/** A run may be changed while a group is scored. */
const TRIES = 5

const NO_COMPLETION = new Set(['abort', 'error'])

export function scoreGroup(parts: Parts) {
  const { engine, groups, items, judge, runs, tasks, meters, dumps, handout, faults, log } = parts
  const room = new ByteRoom(ROOM_BYTES)
  const waiting = new Set<string>() // groups that need the engine, so that they are not read again before it is back
  return async (posted: Posted, { last }: { last: boolean }): Promise<Again | undefined> => {
    const { text_bytes, request, ...place } = posted
    const group = noticeOf(place)
    if (engine.health().ok) waiting.clear()
    else if (waiting.has(group)) return ENGINE_DOWN
    try {
      const bytes = text_bytes ?? (await groups.find(place))?.about?.text_bytes ?? 0
      await room.within(bytes, () => score(place, request, last))
      return undefined
    } catch (error) {
      if (!isEngineDown(error)) throw error
      waiting.add(group)
      return ENGINE_DOWN
    }
  }

  async function score(place: GroupPlace, request: string | undefined, last: boolean): Promise<void> {
    const queued = await groups.queued(place)
    if (!queued) return // done by another delivery, or of a run that is gone
    for (
      let run = await runs.lately(place.run, place.epoch), k = 0;
      k < TRIES;
      run = await runs.ensure(place.run), k++
    ) {
      if (await scoreUnder(run, { place, request, last }, queued)) return
    }
    throw changing(place.run)
  }

  /** False if the run's settings are not those any more. */
  async function scoreUnder(
    run: OpenRun,
    { place, request, last }: { place: GroupPlace; request: string | undefined; last: boolean },
    { about, wants, texts }: QueuedGroup,
  ): Promise<boolean> {
    const started = performance.now()
    const { settings } = run
    const recipe = decodeItemId(about.item_id)
    const { debug, chatter } = runLog(log, run.name, settings)
    const inLog = { group: place.group, task: recipe.task, request_id: request }
    chatter(inLog, 'a job is taken')
    const { task, difficulty, config, seed } = recipe
    debug?.({ ...inLog, task, difficulty, config, seed, policy_version: about.policy_version }, 'the group’s item')
    let result: GroupResult
    let failure: unknown
    const onTrace = debug && ((trace: Trace) => debug({ ...inLog, ...judgingLine(trace) }, 'a completion is judged'))
    try {
      await items.open(about.item_id)
      const verdicts = await judge.verdicts(recipe, texts.rollouts.map(givenOf), settings, true, onTrace)
      result = judgeGroup(about.rollouts, verdicts, settings, wants)
    } catch (error) {
      if (!last || isEngineDown(error)) throw error
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
      revision: run.revision,
      task: recipe.task,
      result,
      facts,
      retriable: failure !== undefined,
      keep: settings.keep_groups,
      feed,
      dump,
    }
    const done = await groups.complete(place, completion)
    if (dump) await dumps.settle(dumped, dump, done === 'changed' ? undefined : done?.kept)
    if (done === 'changed') return false
    if (done) {
      meters.group(recipe.task, result)
      faults.add(run.name, result.verdicts)
      tell(log, { run: run.name, ...inLog }, result, done)
      chatter({ ...inLog, ms: Math.round(performance.now() - started) }, 'a job is done')
    }
    if (done?.level && done.level.before !== done.level.after) await handout.prepare(run) // it may have left a rung
    if (failure !== undefined) throw failure // into the failed set, with its reason
    return true
  }
}

function tell(log: Logger, about: object, result: GroupResult, { level }: Completed): void {
  const { status, mean_score, mean_reward, destination, code, detail, verdicts } = result
  if (status === 'failed') log.warn({ ...about, code, detail }, 'a group could not be scored')
  else log.info({ ...about, rollouts: verdicts.length, mean_score, mean_reward, destination }, 'a group is scored')
  if (level && level.before !== level.after) {
    log.info({ ...about, from: level.before, to: level.after }, 'the difficulty of a task moved')
  }
}

export function givenOf({ completion, messages, finish_reason }: GroupTexts['rollouts'][number]): Given {
  if (finish_reason && NO_COMPLETION.has(finish_reason))
    return { kind: 'nothing', detail: `finish_reason ${finish_reason}` }
  return completion === undefined ? { kind: 'messages', messages: messages ?? [] } : { kind: 'completion', completion }
}

function isEngineDown(error: unknown): boolean {
  return error instanceof Fault && error.code === 'engine_unavailable'
}

function failed(error: unknown): GroupResult {
  const { code, message } = error instanceof Fault ? error : INTERNAL
  return { status: 'failed', verdicts: [], destination: null, code, detail: message }
}
