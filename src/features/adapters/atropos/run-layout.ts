/** Converts a batch of a run to the format of Atropos: the groups as columns, with their rewards as scores. */

import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import { z } from 'zod'
import type { TimeSlices } from '../../../platform/time-slices.ts'
import type { BatchLayout } from '../../batches/batch-stream.ts'
import type { UnpackedGroup } from '../../batches/unpacked-group.ts'
import { formatGroup } from './wire.ts'

/** Fields that Atropos reads; the arrays are as posted, converted to numbers. */
const StoredRollout = z.object({
  tokens: z.array(z.number()),
  masks: z.array(z.number()),
  logprobs: z.array(z.number().nullable()).optional(),
  messages: z.array(z.looseObject({ role: z.unknown(), content: z.unknown() })).optional(),
})
type StoredRollout = z.infer<typeof StoredRollout>

/** Placeholder of Atropos for a missing log-probability, because the token was not generated. */
const NO_LOGPROB = 1

export const runLayout: BatchLayout = { head: '{"batch":[', tail: ']}', formatGroup: formatRunGroup }

async function formatRunGroup(group: UnpackedGroup, indices: number[], steps: TimeSlices): Promise<string> {
  const rollouts: StoredRollout[] = []
  for (const index of indices) rollouts.push(await steps.run(() => parseRollout(group.formatRollout(index))))
  // written by the group
  const verdicts = indices.map((index) => JSON.parse(group.formatVerdict(index) ?? 'null') as GroupVerdict)
  const messages = rollouts.map((rollout) => rollout.messages)
  const logprobs = rollouts.map((rollout) => rollout.logprobs?.map((value) => value ?? NO_LOGPROB))
  return steps.run(() =>
    formatGroup({
      tokens: rollouts.map(({ tokens }) => tokens),
      masks: rollouts.map(({ masks }) => masks),
      scores: computeScores(verdicts),
      ...(isComplete(logprobs) && { inference_logprobs: logprobs }),
      ...(isComplete(messages) && { messages }),
      overrides: verdicts.map((verdict) => (isTrained(verdict) ? {} : { set_advantage_to_zero: true })),
    }),
  )
}

function parseRollout(json: string): StoredRollout {
  const { data } = StoredRollout.safeParse(JSON.parse(json))
  if (!data)
    throw new ServiceError(
      'invalid_request',
      'A group of the batch has no tokens or masks, which the trainers of Atropos need: post both with its rollouts',
    )
  return data
}

/** Keeps a rollout without a reward from moving the mean of its group, which the trainer computes itself. */
function computeScores(verdicts: GroupVerdict[]): number[] {
  const rewards = verdicts.flatMap(({ reward }) => (reward === null ? [] : [reward]))
  const mean = rewards.length === 0 ? 0 : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
  return verdicts.map(({ reward }) => reward ?? mean)
}

function isTrained({ status, masked, skipped }: GroupVerdict): boolean {
  return status === 'scored' && masked === undefined && skipped === undefined
}

function isComplete<T>(values: (T | undefined)[]): values is T[] {
  return values.every((value) => value !== undefined)
}
