/** The frontiers of a run in Redis, and the evidence of groups that is not yet folded into them. */

import type { CurriculumPoint } from '@reasoning-gym-server/contract/run'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { defineScript } from '../../../platform/redis/scripts.ts'
import { tryRead } from '../../../platform/redis/unreadable-entries.ts'
import {
  type AllRunKeys,
  CurriculumState,
  createRunKeys,
  formatCurriculumState,
  MAX_HISTORY_POINTS,
  type RunKeys,
  runRecord,
} from '../records.ts'
import type { StoredRun } from '../types.ts'
import { type FrontierWeights, formatWeights, parseWeights } from './posterior.ts'

export const GroupEvidence = z.strictObject({
  /** The trainer's step when the group was completed. The script that completes the group adds it. */
  step: z.number(),
  time: z.string(),
  task: z.string(),
  /** Mean score of the counted rollouts, before any penalty, and their number. */
  score: z.number(),
  rollouts: z.number(),
  /** Share of these rollouts that have an answer in the right format. */
  formatted: z.number(),
  /** Difficulty of the group's item, and its guess floor under the run's scoring. */
  difficulty: z.number(),
  floor: z.number(),
})
export type GroupEvidence = z.infer<typeof GroupEvidence>

const readEvidence = defineScript(import.meta.dirname, 'read-evidence', { RUN: runRecord.constants })
const foldEvidence = defineScript(import.meta.dirname, 'fold-evidence', { RUN: runRecord.constants })

const FOLD_SIZE = 200

/** The stored curriculum of a task. It has no weights until a group has counted. */
export interface StoredFrontier {
  state: CurriculumState
  weights: FrontierWeights | undefined
}

export interface FoldedEvidence {
  tasks: Map<string, StoredFrontier & { weights: FrontierWeights }>
  /** New points of the history, oldest first. */
  points: CurriculumPoint[]
  levelChanges: LevelChange[]
}

export interface LevelChange {
  task: string
  /** Level before the group, or undefined if the task had no level of its own yet. */
  before: number | undefined
  after: number
}

export class FrontierRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
  }

  /**
   * Reads the oldest evidence, and the state of the run at that time. `folded` is the number of pieces that had left the
   * list before.
   */
  async readPending(run: StoredRun) {
    const reply = await readEvidence(this.#redis, this.#runKeys(run), [FOLD_SIZE])
    const [pieces, fields] = reply as [string[], (string | null)[]] // as the script returns them
    const [storedEpoch, storedRevision, folded] = fields.map((text) => (text === null ? undefined : Number(text)))
    return {
      epoch: storedEpoch,
      revision: storedRevision,
      folded: folded ?? 0,
      evidence: this.#readEvidence(run, pieces),
      count: pieces.length,
    }
  }

  async readFrontiers(run: StoredRun, tasks: string[]): Promise<Map<string, StoredFrontier>> {
    if (tasks.length === 0) return new Map()
    const keys = this.#runKeys(run)
    const [states, weights] = await Promise.all([
      this.#redis.hmget(keys.curriculum, ...tasks),
      this.#redis.hmget(keys.frontierWeights, ...tasks),
    ])
    return new Map(
      tasks.flatMap((task, k) => {
        const state = states[k]
        if (!state) return []
        const read = () => parseFrontier(state, weights[k])
        const frontier = tryRead(this.#redis, { key: keys.curriculum, name: task }, read)
        return frontier ? [[task, frontier]] : []
      }),
    )
  }

  /**
   * Returns the number of pieces left, or undefined if the run has changed since the evidence was read or another
   * process folded it.
   */
  async storeFolded(
    run: StoredRun,
    pending: Awaited<ReturnType<FrontierRepository['readPending']>>,
    { tasks, points }: FoldedEvidence,
  ): Promise<number | undefined> {
    const folded = {
      epoch: String(run.epoch),
      revision: String(run.revision),
      folded: String(pending.folded),
      count: pending.count,
      max_points: MAX_HISTORY_POINTS,
      tasks: formatFrontiers(tasks),
      points: points.map((point) => JSON.stringify(point)),
    }
    const left = Number(await foldEvidence(this.#redis, this.#runKeys(run), [JSON.stringify(folded)]))
    return left < 0 ? undefined : left
  }

  #readEvidence(run: StoredRun, pieces: string[]): GroupEvidence[] {
    const key = this.#runKeys(run).frontierEvidence
    return pieces.flatMap((text) => tryRead(this.#redis, { key, name: '' }, () => parseEvidence(text)) ?? [])
  }

  #runKeys({ name, epoch }: StoredRun): RunKeys {
    return this.#keys.forRun(name, epoch)
  }
}

export function parseEvidence(json: string): GroupEvidence {
  return GroupEvidence.parse(JSON.parse(json))
}

/** The frontier starts again if another version of the server wrote its weights. */
export function parseFrontier(state: string, weights: string | null | undefined): StoredFrontier {
  return {
    state: CurriculumState.parse(JSON.parse(state)),
    weights: parseWeights(weights ?? ''),
  }
}

/** Lists the task, state and weights of each frontier, as the scripts expect them. */
export function formatFrontiers(frontiers: ReadonlyMap<string, StoredFrontier>): string[] {
  return [...frontiers].flatMap(([task, { state, weights }]) => [
    task,
    formatCurriculumState(state),
    weights ? formatWeights(weights) : '',
  ])
}
