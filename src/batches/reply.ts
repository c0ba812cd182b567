/** A batch on its way out: JSON in pieces, a group at a time, so that no string holds all of it. */
import { Fault } from '../faults.ts'
import type { GroupResult } from '../scoring/group.ts'
import type { Batches, PackedGroup, RunPlace } from '../store/batches.ts'
import { type ArrayStyle, rolloutDocuments, unpackAbout, unpackTexts } from '../store/payload.ts'
import type { Share, StoredBatch } from '../words/batch.ts'
import { decodeItemId } from '../words/item-id.ts'
import type { GroupVerdict } from '../words/verdict.ts'
import { lagOf, metricsOf, totalsOf } from './figures.ts'
import { type Portion, portionsOf, sequencesOf, shareOf } from './shares.ts'

/** Throws `batch_acknowledged` midway if the batch is acknowledged while it is read; the reply then breaks off. */
export async function* replyOf(
  batches: Batches,
  run: RunPlace,
  batch: StoredBatch,
  share: Share | undefined,
  style: ArrayStyle,
): AsyncGenerator<string | Buffer> {
  const portions = share ? shareOf(batch, share) : portionsOf(batch)
  const head = {
    run: run.name,
    step: batch.step,
    sequences: sequencesOf(portions),
    totals: totalsOf(batch),
    lag: lagOf(batch),
    metrics: metricsOf(batch),
  }
  yield `${JSON.stringify(head).slice(0, -1)},"groups":[`
  let before = ''
  const groupOf = async (portion: Portion) => ({ portion, packed: await batches.group(run, portion.group.id) })
  for await (const { portion, packed } of oneAhead(portions, groupOf)) {
    if (!packed) throw new Fault('batch_acknowledged', `The batch of step ${batch.step} was acknowledged meanwhile`)
    yield before
    yield* groupDocument(portion, packed, style)
    before = ','
  }
  yield ']}'
}

/** What is read of each, in order: the next is on its way while one is in use. */
async function* oneAhead<Of, Read>(all: Of[], read: (one: Of) => Promise<Read>): AsyncGenerator<Read> {
  const begin = (k: number) => {
    const coming = k < all.length ? read(all[k] as Of) : undefined // k is a place in it
    coming?.catch(() => {}) // met when its turn comes, which it may not
    return coming
  }
  for (let k = 0, coming = begin(0); coming; k++) {
    const one = await coming
    coming = begin(k + 1)
    yield one
  }
}

function* groupDocument(
  { group, indices }: Portion,
  { about, texts, arrays, result }: PackedGroup,
  style: ArrayStyle,
): Generator<string | Buffer> {
  const { item_id, policy_version } = unpackAbout(about)
  const { task, difficulty } = decodeItemId(item_id) // of whatever engine version: it is scored
  const sent = unpackTexts(texts)
  const scored = JSON.parse(result.toString()) as GroupResult // written by the script that completes groups
  const { mean_score, mean_reward, std_reward, percent_correct, voters, lengths, length_penalty, signal } = scored
  const head = {
    ...{ group_id: group.id, item_id, task, difficulty, policy_version, extra: sent.extra },
    ...{ mean_score, mean_reward, std_reward, percent_correct, voters, lengths, length_penalty, signal, indices },
    verdicts: indices.flatMap((k) => scored.verdicts[k] ?? []).map(asDelivered),
  }
  yield `${JSON.stringify(head).slice(0, -1)},"rollouts":[`
  let before = ''
  for (const piece of rolloutDocuments(sent, arrays, indices, style)) {
    yield before
    yield piece
    before = ','
  }
  yield ']}'
}

/** An unscored rollout that is there all the same must not pull anywhere. */
function asDelivered(verdict: GroupVerdict): GroupVerdict {
  return verdict.status === 'unscored' ? { ...verdict, advantage: 0 } : verdict
}
