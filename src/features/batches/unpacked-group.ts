/**
 * An unpacked group of a batch, and its parts as JSON. Each part is made for the first reader and kept for the others.
 */
import { decodedBlobBytes } from '@reasoning-gym-server/codec/compressed-blob'
import { decodeItemId } from '@reasoning-gym-server/contract/item-id'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import type { GroupResult } from '../../grading/group.ts'
import {
  type ArrayEncoding,
  type GroupTexts,
  RolloutFormatter,
  unpackMetadata,
  unpackTexts,
} from '../rollouts/group-payload.ts'
import type { PackedBatchGroup, PackedGroupSizes } from './repository.ts'

/** Bytes of text in memory per byte of JSON: parsed, with up to two bytes per character, and as JSON again. */
const TEXT_FACTOR = 3
/** Bytes in memory per byte of an array: the array itself, and its JSON. */
const ARRAY_FACTORS: Record<ArrayEncoding, number> = { numbers: 4, base64: 3 }
/**
 * Assumed compression ratio of arrays. Token columns shrink to about half; typed data may shrink much more and is
 * measured once it is read.
 */
const ASSUMED_ARRAY_RATIO = 2

export class UnpackedGroup {
  readonly #id: string
  readonly #itemId: string
  readonly #policyVersion: number | null
  readonly #texts: GroupTexts
  readonly #result: GroupResult
  readonly #rollouts: RolloutFormatter
  readonly #pieces = new Map<string, string>()

  constructor(id: string, { metadata, texts, arrays, result }: PackedBatchGroup, encoding: ArrayEncoding) {
    const { item_id, policy_version } = unpackMetadata(metadata)
    this.#id = id
    this.#itemId = item_id
    this.#policyVersion = policy_version
    this.#texts = unpackTexts(texts)
    this.#result = JSON.parse(result.toString()) as GroupResult // written by the script that completes groups
    this.#rollouts = new RolloutFormatter(this.#texts, arrays, encoding)
  }

  /** Describes the group for a reader of these rollouts. */
  describe(indices: number[]): object {
    const { task, difficulty } = decodeItemId(this.#itemId) // any engine version, because the group is already scored
    const { mean_score, mean_reward, std_reward, percent_correct, voters, lengths, length_penalty, signal } =
      this.#result
    return {
      ...{ group_id: this.#id, item_id: this.#itemId, task, difficulty, policy_version: this.#policyVersion },
      ...{ mean_score, mean_reward, std_reward, percent_correct, voters, lengths, length_penalty, signal, indices },
    }
  }

  /** Formats what the client sent with the group. Returns undefined if it sent nothing. */
  formatExtra(): string | undefined {
    const { extra } = this.#texts
    return extra === undefined ? undefined : this.#getOrCreatePiece('extra', () => JSON.stringify(extra))
  }

  formatVerdict(rollout: number): string | undefined {
    const verdict = this.#result.verdicts[rollout]
    return verdict && this.#getOrCreatePiece(`verdict ${rollout}`, () => JSON.stringify(toDeliveredVerdict(verdict)))
  }

  formatRollout(rollout: number): string {
    return this.#getOrCreatePiece(`rollout ${rollout}`, () => this.#rollouts.format(rollout))
  }

  /** Frees the group's memory. No part of it may be used afterward. */
  close(): void {
    this.#rollouts.close()
    this.#pieces.clear()
  }

  #getOrCreatePiece(name: string, format: () => string): string {
    let piece = this.#pieces.get(name)
    if (piece === undefined) {
      piece = format()
      this.#pieces.set(name, piece)
    }
    return piece
  }
}

/** Estimates the memory for an unpacked group from the sizes of its packed parts. */
export function estimateUnpackedBytes(sizes: PackedGroupSizes, encoding: ArrayEncoding): number {
  return sumBytes(sizes, sizes.arrays * ASSUMED_ARRAY_RATIO, encoding)
}

export function measureUnpackedBytes(packed: PackedBatchGroup, encoding: ArrayEncoding): number {
  const { metadata, texts, arrays, result } = packed
  const sizes = {
    decodedTexts: unpackMetadata(metadata).text_bytes,
    texts: texts.byteLength,
    arrays: arrays?.byteLength ?? 0,
    result: result.byteLength,
  }
  return sumBytes(sizes, arrays ? decodedBlobBytes(arrays) : 0, encoding)
}

function sumBytes(
  { decodedTexts, texts, arrays, result }: PackedGroupSizes,
  decodedArrays: number,
  encoding: ArrayEncoding,
): number {
  return texts + arrays + TEXT_FACTOR * (decodedTexts + result) + ARRAY_FACTORS[encoding] * decodedArrays
}

/** A delivered unscored rollout must not affect the gradient. */
function toDeliveredVerdict(verdict: GroupVerdict): GroupVerdict {
  return verdict.status === 'unscored' ? { ...verdict, advantage: 0 } : verdict
}
