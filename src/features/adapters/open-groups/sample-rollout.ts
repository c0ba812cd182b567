/** The rollout that stands in a group for a sample. */
import { createHash } from 'node:crypto'
import { encodeBlob } from '../../../codec/compressed-blob.ts'
import { canonicalJson } from '../../../codec/content-hash.ts'
import type { Rollout } from '../../../contract/rollout.ts'
import type { RunSettings } from '../../../contract/run.ts'
import { hasNoCompletion } from '../../../grading/finish-reason.ts'
import type { Submission } from '../../../grading/grader.ts'
import type { Sample } from '../sample-scoring.ts'
import type { RecordedSample } from './repository.ts'

/** Of 64 bits: it names an item among those of one run. */
const ITEM_KEY_LENGTH = 16
const HASH_LENGTH = 32

/** `call`: `PROCESS.NUMBER`, of this sample alone. It is the sample's ID, too, unless the client named the rollout. */
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
 * The original's length penalty needs the lengths of a whole group, so that a caller's reward cannot have it. Without lengths
 * the group does not have it either, and its rewards are those that were answered.
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

/** A group has completions: a bare answer becomes one that has it. */
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
