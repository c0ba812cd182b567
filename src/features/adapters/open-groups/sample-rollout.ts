/** Converts a sample to the rollout that represents it in a group. */
import { createHash } from 'node:crypto'
import { encodeBlob } from '@reasoning-gym-server/codec/compressed-blob'
import { canonicalJson } from '@reasoning-gym-server/codec/content-hash'
import type { Rollout } from '@reasoning-gym-server/contract/rollout'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { hasNoCompletion, type Submission } from '../../../grading/grader.ts'
import type { Sample } from '../sample-scoring.ts'
import type { RecordedSample } from './repository.ts'

/** 16 hex digits are 64 bits, enough to distinguish the items of one run. */
const ITEM_KEY_LENGTH = 16
const HASH_LENGTH = 32

/**
 * `call` is `PROCESS.NUMBER`, unique to this sample. It is also the sample's ID unless the client named the rollout.
 */
export function createRecordedSample(
  sample: Sample & { itemId: string },
  settings: Pick<RunSettings, 'extraction' | 'length_penalty'>,
  call: string,
): RecordedSample {
  const { itemId, rolloutKey } = sample
  const json = Buffer.from(canonicalJson(toRollout(sample, settings)))
  return {
    item: hash(itemId).slice(0, ITEM_KEY_LENGTH),
    itemId,
    id: rolloutKey === undefined ? call : `key.${hash(JSON.stringify([itemId, rolloutKey]))}`,
    isNamed: rolloutKey !== undefined,
    call,
    contentHash: hash(json),
    rollout: encodeBlob(json),
  }
}

/**
 * The original's length penalty needs the lengths of a whole group, so a single sample's reward cannot include it. The
 * rollout omits its length, so that the group does not apply the penalty either and keeps the rewards that were sent.
 */
function toRollout(
  { submission, rolloutKey, tokens, finishReason }: Sample,
  { extraction, length_penalty }: Pick<RunSettings, 'extraction' | 'length_penalty'>,
): Rollout {
  return {
    ...toText(submission, extraction),
    ...(finishReason !== undefined && { finish_reason: finishReason }),
    ...(submission.kind === 'nothing' && !hasNoCompletion(finishReason) && { finish_reason: 'error' }),
    ...(tokens !== undefined && length_penalty !== true && { length_tokens: tokens }),
    ...(rolloutKey !== undefined && { extra: { rollout_key: rolloutKey } }),
  }
}

/** A group holds completions, so a bare answer becomes a completion that contains it. */
function toText(
  submission: Submission,
  extraction: RunSettings['extraction'],
): Pick<Rollout, 'completion' | 'messages'> {
  switch (submission.kind) {
    case 'completion':
      return { completion: submission.completion }
    case 'messages':
      return { messages: submission.messages }
    case 'answer':
      return { completion: extraction === 'bare' ? submission.answer : `<answer>${submission.answer}</answer>` }
    case 'nothing':
      return { completion: '' }
  }
}

function hash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, HASH_LENGTH)
}
