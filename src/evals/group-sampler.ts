/** One sample of a collection: the run's next items are taken, asked for group_size times, and posted like any group. */
import { Fault } from '../faults.ts'
import { messagesFor } from '../items/messages.ts'
import { NoReply } from '../models/model.ts'
import type { Reply } from '../models/reply.ts'
import type { Again } from '../queue/catalogue.ts'
import type { Handout } from '../runs/handout.ts'
import type { Intake } from '../runs/intake.ts'
import type { OpenRun } from '../runs/open-run.ts'
import type { RunBook } from '../runs/run-book.ts'
import { heldGroups, type Runs } from '../store/runs.ts'
import type { Samples } from '../store/samples.ts'
import type { Samplings, StoredSampling } from '../store/samplings.ts'
import type { Group, Rollout } from '../words/rollout.ts'
import type { CollectedGroup } from './collected.ts'
import type { EvalItems } from './eval-items.ts'
import type { Models } from './models.ts'
import type { ResultMaker } from './result-maker.ts'
import { assistantMessage, packText, type Text, unpackWithin } from './sample.ts'
import type { CollectionSpec } from './spec.ts'

/** Items that are taken at once. */
const TAKEN = 8
const TAKING_MS = 30_000
const OTHERS_TAKE_MS = 150
const NOT_READY_MS = 1_000
const FULL_MS = 3_000
const SCORED_WITHIN_MS = 20_000
/** Room for the answers of a group, as JSON: as much as a body of POST /rollouts may have. */
const GROUP_BYTES = 64 * 1024 * 1024

interface Parts {
  samplings: Samplings
  samples: Samples
  items: EvalItems
  models: Models
  runs: RunBook
  storedRuns: Runs
  handout: Handout
  intake: Intake
  results: ResultMaker
}

export class GroupSampler {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** What to do later if it cannot be done now; may be called again for the same sample. */
  async sample(
    found: StoredSampling,
    spec: CollectionSpec,
    sample: number,
    lane: number,
    signal: AbortSignal,
  ): Promise<Again | undefined> {
    const { samples } = this.#parts
    const group = Math.floor(sample / spec.group_size)
    const [posted] = await samples.verdicts(found.id, group, group + 1)
    if (!posted) {
      const run = await this.#parts.runs.ensure(spec.run)
      const item = (await samples.item(found.id, group)) ?? (await this.#take(found.id, spec, run, group))
      if (typeof item !== 'string') return item
      const kept = await samples.text(found.id, sample)
      if (!kept)
        await samples.keepText(found.id, sample, packText(await this.#ask(found, spec, run, item, sample, signal)))
      const texts = await this.#wholeGroup(found.id, spec, group)
      if (texts) return this.#post(found, spec, { group, item, texts }, lane)
    }
    await samples.release(found.id, lane)
    return undefined
  }

  /** The run's next items go on the list; the item of this group is among them, or it is not its turn yet. */
  async #take(id: string, { groups, buffer }: CollectionSpec, run: OpenRun, group: number): Promise<string | Again> {
    const { samplings, samples, handout } = this.#parts
    if (buffer && (await this.#isFull(run))) return this.#pause(id)
    if (!(await samples.mayTake(id, TAKING_MS))) return { againInMs: OTHERS_TAKE_MS }
    try {
      const taken = (await samples.items(id)).length
      if (taken <= group) {
        const { items } = await handout.next(run, Math.min(TAKEN, groups - taken))
        if (items.length === 0) return await this.#pause(id)
        await samples.addItems(
          id,
          items.map((item) => item.id),
        )
      }
    } catch (error) {
      if (error instanceof Fault && error.code === 'items_not_ready') return { againInMs: NOT_READY_MS }
      throw error
    } finally {
      await samples.doneTaking(id)
    }
    await samplings.setField(id, 'paused', '')
    return (await samples.item(id, group)) ?? { againInMs: OTHERS_TAKE_MS }
  }

  async #isFull(run: OpenRun): Promise<boolean> {
    return heldGroups(await this.#parts.storedRuns.waiting(run)) >= run.settings.buffer_max_groups
  }

  /** The trainer is behind: nothing is asked of the model until there is room. */
  async #pause(id: string): Promise<Again> {
    await this.#parts.samplings.setField(id, 'paused', 'trainer')
    return { againInMs: FULL_MS }
  }

  async #ask(
    found: StoredSampling,
    { model: called, group_size }: CollectionSpec,
    run: OpenRun,
    item: string,
    sample: number,
    signal: AbortSignal,
  ): Promise<Text> {
    const { items, models } = this.#parts
    const { question } = await items.make({ id: item, question: undefined })
    const model = await models.of(found, called)
    const { seed, ...asking } = called.asking
    const own = seed === undefined ? {} : { seed: seed + (sample % group_size) }
    try {
      const request = { ...own, ...asking.request }
      const reply = await model.ask(messagesFor(question, run.settings), { ...asking, request }, signal)
      return { kind: 'reply', reply }
    } catch (error) {
      if (error instanceof NoReply) return { kind: 'failed', detail: error.message }
      throw error
    }
  }

  /** Undefined while one is missing: whoever brings the last one finds them all. */
  async #wholeGroup(id: string, { group_size }: CollectionSpec, group: number): Promise<Text[] | undefined> {
    const { samples } = this.#parts
    const own = samplesOf(group, group_size)
    if (!(await samples.hasTexts(id, own))) return undefined
    const texts: Text[] = []
    let left = GROUP_BYTES
    for (const sample of own) {
      const packed = await samples.text(id, sample) // one at a time: together they may be more than a process has room for
      if (!packed) return undefined // posted meanwhile
      const unpacked = unpackWithin(packed, left)
      left -= unpacked?.bytes ?? 0
      texts.push(unpacked?.text ?? { kind: 'failed', detail: `the group's answers are over ${GROUP_BYTES} bytes` })
    }
    return texts
  }

  async #post(
    found: StoredSampling,
    spec: CollectionSpec,
    { group, item, texts }: { group: number; item: string; texts: Text[] },
    lane: number,
  ): Promise<Again | undefined> {
    const { samples, intake, results } = this.#parts
    const group_id = `${found.id}.${group}`
    const rollouts = texts.map(rolloutOf)
    let posted: Group | undefined
    try {
      if (texts.some(({ kind }) => kind !== 'failed'))
        [posted] = await intake.post(
          spec.run,
          [{ group_id, item_id: item, buffer: spec.buffer, rollouts }],
          SCORED_WITHIN_MS,
        )
    } catch (error) {
      if (error instanceof Fault && error.code === 'buffer_full') return this.#pause(found.id)
      throw error
    }
    const { status = 'failed', destination = null, mean_score = null } = posted ?? {}
    const verdict: CollectedGroup = { group_id, status, destination, mean_score }
    const scores = scoresOf(posted)
    const recorded = await samples.record(found.id, group, {
      verdict,
      score: scores.reduce((sum, score) => sum + score, 0),
      lane,
      counts: texts.length,
      failed: texts.length - scores.length,
    })
    if (recorded.kind !== 'recorded') return undefined
    await samples.forgetTexts(found.id, samplesOf(group, spec.group_size))
    if (recorded.done >= recorded.total) await results.end(found.id, 'done')
    return undefined
  }
}

function samplesOf(group: number, groupSize: number): number[] {
  return Array.from({ length: groupSize }, (_, k) => group * groupSize + k)
}

/** Of the rollouts that count in the group's mean: a failure has no score, and none of a group is known before it is scored. */
function scoresOf(group: Group | undefined): number[] {
  if (group?.status !== 'scored') return []
  return (group.verdicts ?? []).flatMap(({ score, skipped }) => (score === null || skipped ? [] : [score]))
}

/** With the tokens and logprobs that the model's server told; what is not the model's own is masked. */
function rolloutOf(text: Text): Rollout {
  if (text.kind !== 'reply')
    return { completion: '', finish_reason: 'error', extra: { reason: text.kind === 'failed' ? text.detail : '' } }
  const { reply } = text
  const { content, reasoning, tool_calls, finish_reason, length_tokens } = reply
  return {
    ...(reasoning === undefined && !tool_calls ? { completion: content } : { messages: [assistantMessage(reply)] }),
    finish_reason,
    ...(length_tokens !== undefined && { length_tokens }),
    ...tokensOf(reply),
  }
}

function tokensOf({
  prompt_token_ids: prompt = [],
  token_ids,
  logprobs,
}: Reply): Pick<Rollout, 'tokens' | 'masks' | 'logprobs'> {
  if (!token_ids) return logprobs ? { logprobs } : {}
  const masked = prompt.map(() => -100)
  return {
    tokens: [...prompt, ...token_ids],
    masks: [...masked, ...token_ids],
    ...(logprobs?.length === token_ids.length && { logprobs: [...prompt.map(() => 1), ...logprobs] }),
  }
}
