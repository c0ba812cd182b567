/** Items of training steps in Redis: assigned by the first call for a step, the same for whoever asks again. */
import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import { defineScript } from '../../platform/redis/scripts.ts'
import { type AllRunKeys, createRunKeys, type RunKeys } from './keys.ts'
import { groupInTriples, type PositionClaim, parseDifficulty, type SkippedPosition } from './position-repository.ts'
import type { StoredRun } from './repository.ts'

const assignStep = defineScript({
  folder: import.meta.dirname,
  name: 'assign-step-items',
  keys: ['run', 'openPositions', 'positionStates', 'itemBodies', 'curriculum', 'stepItems', 'stepItemBodies'],
})
const claimStep = defineScript({
  folder: import.meta.dirname,
  name: 'claim-step-items',
  keys: ['stepItems'],
})
const storeStepItem = defineScript({
  folder: import.meta.dirname,
  name: 'store-step-item',
  keys: ['run', 'stepItems', 'stepItemBodies'],
})
const releaseStepItem = defineScript({
  folder: import.meta.dirname,
  name: 'release-step-item',
  keys: ['run', 'openPositions', 'positionStates', 'skippedPositions', 'stepItems', 'itemBodies'],
})

const STEP_ITEM_CLAIM_TTL_MS = 30_000
const ITEM_BODY_TTL_MS = 60 * 60 * 1000
/** Steps whose items are remembered; those asked for longest ago give way. By their numbers it could be the one asked for. */
const MAX_STEPS = 256
const MAX_STEP_ITEM_ATTEMPTS = 2

/** An item of a step: `made` says which it is, `body` is there for an hour. */
export interface StepItem {
  position: number
  item: { task: string; label: number | null; body: string | undefined } | undefined
}

export class StepItemRepository {
  readonly #redis: Redis
  readonly #keys: AllRunKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
  }

  /** The items of a step as they stand, in order; `count` is heard from the first call only. Undefined if the run was changed. */
  async assignItems(run: StoredRun, step: number, count: number, ahead: number): Promise<StepItem[] | undefined> {
    const keys = this.#runKeys(run)
    const texts = (await assignStep(
      this.#redis,
      { ...keys, stepItems: keys.stepItems(step), stepItemBodies: keys.stepItemBodies(step) },
      [run.epoch, count, Date.now(), ahead, ITEM_BODY_TTL_MS, run.revision],
    )) as string[] // as the script says
    if (texts[0] === 'changed') return undefined
    await this.#recordStepUse(keys, step)
    return groupInTriples(texts).map(([position, state, body]) => ({
      position: Number(position),
      item: parseStepItemState(state, body),
    }))
  }

  async claimPositions(run: StoredRun, step: number): Promise<PositionClaim[]> {
    const claimed = await claimStep(this.#redis, { stepItems: this.#runKeys(run).stepItems(step) }, [
      Date.now(),
      STEP_ITEM_CLAIM_TTL_MS,
    ])
    return (claimed as string[]).map((position) => ({ position: Number(position) }))
  }

  /** False if the item is not wanted any more: another was faster, or the settings are others. */
  async storeItem(
    run: StoredRun,
    step: number,
    position: number,
    { task, label, body }: { task: string; label: number | null; body: string },
  ): Promise<boolean> {
    const keys = this.#runKeys(run)
    const args = [position, `${task}|${label ?? ''}`, body, ITEM_BODY_TTL_MS, run.revision]
    const stepKeys = { run: keys.run, stepItems: keys.stepItems(step), stepItemBodies: keys.stepItemBodies(step) }
    return (await storeStepItem(this.#redis, stepKeys, args)) === 1
  }

  /** Returns a claimed position; true if it gave way to the next of the sequence. */
  async releaseClaim(run: StoredRun, step: number, skipped: SkippedPosition, counts: boolean): Promise<boolean> {
    const keys = this.#runKeys(run)
    const args = [skipped.position, counts ? '1' : '0', MAX_STEP_ITEM_ATTEMPTS, JSON.stringify(skipped), Date.now()]
    return (await releaseStepItem(this.#redis, { ...keys, stepItems: keys.stepItems(step) }, args)) === 1
  }

  async #recordStepUse(keys: RunKeys, step: number): Promise<void> {
    await this.#redis.zadd(keys.steps, Date.now(), String(step))
    const over = (await this.#redis.zcard(keys.steps)) - MAX_STEPS
    if (over <= 0) return
    const old = (await this.#redis.zpopmin(keys.steps, over)).filter((_, k) => k % 2 === 0).map(Number)
    await this.#redis.unlink(...old.flatMap((past) => [keys.stepItems(past), keys.stepItemBodies(past)]))
  }

  #runKeys({ name, epoch }: StoredRun): RunKeys {
    return this.#keys.forRun(name, epoch)
  }
}

function parseStepItemState(state: string, body: string): StepItem['item'] {
  if (state.startsWith('-')) return undefined
  const [task = '', label = ''] = state.split('|')
  return { task, label: parseDifficulty(label), body: body === '' ? undefined : body }
}
