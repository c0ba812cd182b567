/** A batch on its way out: JSON in pieces, a group at a time, so that no string holds all of it. */

import type { RankSlice, StoredBatch } from '../../contract/batch.ts'
import { ServiceError } from '../../contract/errors.ts'
import { decodeItemId } from '../../contract/item-id.ts'
import type { GroupVerdict } from '../../contract/verdict.ts'
import type { GroupResult } from '../../grading/group.ts'
import { type ArrayEncoding, formatRollouts, unpackMetadata, unpackTexts } from '../rollouts/group-payload.ts'
import { computeBatchMetrics, computeBatchTotals, computePolicyLag } from './batch-metrics.ts'
import { computeRankSlice, countSequences, type GroupSlice, listGroupSlices } from './rank-slices.ts'
import type { BatchRepository, PackedBatchGroup, RunRef } from './repository.ts'

/** Throws `batch_acknowledged` midway if the batch is acknowledged while it is read; the reply then breaks off. */
export async function* streamBatch(
  batches: BatchRepository,
  run: RunRef,
  batch: StoredBatch,
  share: RankSlice | undefined,
  style: ArrayEncoding,
): AsyncGenerator<string | Buffer> {
  const portions = share ? computeRankSlice(batch, share) : listGroupSlices(batch)
  const head = {
    run: run.name,
    step: batch.step,
    sequences: countSequences(portions),
    totals: computeBatchTotals(batch),
    lag: computePolicyLag(batch),
    metrics: computeBatchMetrics(batch),
  }
  yield `${JSON.stringify(head).slice(0, -1)},"groups":[`
  let before = ''
  const groupOf = async (portion: GroupSlice) => ({ portion, packed: await batches.getGroup(run, portion.group.id) })
  for await (const { portion, packed } of prefetchOne(portions, groupOf)) {
    if (!packed)
      throw new ServiceError('batch_acknowledged', `The batch of step ${batch.step} was acknowledged meanwhile`)
    yield before
    yield* streamGroup(portion, packed, style)
    before = ','
  }
  yield ']}'
}

/** What is read of each, in order: the next is on its way while one is in use. */
async function* prefetchOne<Of, Read>(all: Of[], read: (one: Of) => Promise<Read>): AsyncGenerator<Read> {
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

function* streamGroup(
  { group, indices }: GroupSlice,
  { metadata: about, texts, arrays, result }: PackedBatchGroup,
  style: ArrayEncoding,
): Generator<string | Buffer> {
  const { item_id, policy_version } = unpackMetadata(about)
  const { task, difficulty } = decodeItemId(item_id) // of whatever engine version: it is scored
  const sent = unpackTexts(texts)
  const scored = JSON.parse(result.toString()) as GroupResult // written by the script that completes groups
  const { mean_score, mean_reward, std_reward, percent_correct, voters, lengths, length_penalty, signal } = scored
  const head = {
    ...{ group_id: group.id, item_id, task, difficulty, policy_version, extra: sent.extra },
    ...{ mean_score, mean_reward, std_reward, percent_correct, voters, lengths, length_penalty, signal, indices },
    verdicts: indices.flatMap((k) => scored.verdicts[k] ?? []).map(toDeliveredVerdict),
  }
  yield `${JSON.stringify(head).slice(0, -1)},"rollouts":[`
  let before = ''
  for (const piece of formatRollouts(sent, arrays, indices, style)) {
    yield before
    yield piece
    before = ','
  }
  yield ']}'
}

/** An unscored rollout that is there all the same must not pull anywhere. */
function toDeliveredVerdict(verdict: GroupVerdict): GroupVerdict {
  return verdict.status === 'unscored' ? { ...verdict, advantage: 0 } : verdict
}
