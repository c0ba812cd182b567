/**
 * The groups that responses are sending, unpacked once for all concurrent readers. A group is dropped when its last reader is
 * done.
 */
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import type { GroupResult } from '../../grading/group-advantages.ts'
import type { EventLoopBudget } from '../../platform/event-loop-budget.ts'
import {
  type ArrayEncoding,
  type GroupMetadata,
  type GroupTexts,
  RolloutFormatter,
  unpackMetadata,
  unpackTexts,
} from '../rollouts/group-payload.ts'
import type { BatchRepository, PackedBatchGroup, RunRef } from './repository.ts'

/** A reader's use of a group. Every handle must be closed. */
export interface UnpackedGroupHandle {
  /** Resolves to undefined if the batch was acknowledged in the meantime. */
  group: Promise<UnpackedGroup | undefined>
  close(): void
}

interface SharedGroup {
  readers: number
  isClosed: boolean
  group: Promise<UnpackedGroup | undefined>
}

export class UnpackedGroups {
  readonly #batches: BatchRepository
  readonly #slices: EventLoopBudget
  readonly #shared = new Map<string, SharedGroup>()

  constructor(batches: BatchRepository, slices: EventLoopBudget) {
    this.#batches = batches
    this.#slices = slices
  }

  /** Starts to unpack a group, or joins the readers of a group that is being unpacked. */
  unpack(run: RunRef, id: string, encoding: ArrayEncoding): UnpackedGroupHandle {
    const key = JSON.stringify([run.name, run.epoch, run.revision, id, encoding])
    const shared = this.#shared.get(key) ?? this.#create(key, run, id, encoding)
    shared.readers++
    let isClosed = false
    const close = () => {
      if (isClosed) return
      isClosed = true
      if (--shared.readers > 0) return
      if (this.#shared.get(key) === shared) this.#shared.delete(key)
      shared.isClosed = true
      void shared.group.then((group) => group?.close()).catch(() => {}) // its readers have received the error
    }
    return { group: shared.group, close }
  }

  #create(key: string, run: RunRef, id: string, encoding: ArrayEncoding): SharedGroup {
    const shared: SharedGroup = {
      readers: 0,
      isClosed: false,
      group: Promise.resolve(undefined),
    }
    this.#shared.set(key, shared)
    shared.group = this.#load(shared, run, id, encoding)
    shared.group.catch(() => this.#shared.get(key) === shared && this.#shared.delete(key)) // the next reader tries again
    return shared
  }

  async #load(
    shared: SharedGroup,
    run: RunRef,
    id: string,
    encoding: ArrayEncoding,
  ): Promise<UnpackedGroup | undefined> {
    const packed = await this.#batches.getGroup(run, id)
    if (!packed || shared.isClosed) return undefined
    return this.#slices.run(() => new UnpackedGroup(id, packed, encoding))
  }
}

/** An unpacked group, and its parts as JSON. Each part is made for the first reader and kept for the others. */
export class UnpackedGroup {
  readonly #id: string
  readonly #metadata: GroupMetadata
  readonly #texts: GroupTexts
  readonly #result: GroupResult
  readonly #rollouts: RolloutFormatter
  readonly #pieces = new Map<string, string>()

  constructor(id: string, { metadata, texts, arrays, result }: PackedBatchGroup, encoding: ArrayEncoding) {
    this.#id = id
    this.#metadata = unpackMetadata(metadata)
    this.#texts = unpackTexts(texts)
    this.#result = JSON.parse(result.toString()) as GroupResult // written by the script that completes groups
    this.#rollouts = new RolloutFormatter(this.#texts, arrays, encoding)
  }

  /** Describes the group for a reader of these rollouts. */
  describe(indices: number[]): object {
    const { item_id, policy_version, recipe } = this.#metadata
    const { mean_score, mean_reward, std_reward, percent_correct, voters, lengths, length_penalty, signal } =
      this.#result
    return {
      group_id: this.#id,
      item_id,
      task: recipe.task,
      difficulty: recipe.difficulty,
      policy_version,
      mean_score,
      mean_reward,
      std_reward,
      percent_correct,
      voters,
      lengths,
      length_penalty,
      signal,
      indices,
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

/** A delivered unscored rollout must not affect the gradient. */
function toDeliveredVerdict(verdict: GroupVerdict): GroupVerdict {
  return verdict.status === 'unscored' ? { ...verdict, advantage: 0 } : verdict
}
