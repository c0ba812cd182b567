/** Items of training steps in Redis: assigned by the first call for a step, the same for whoever asks again. */
import type { Redis } from 'ioredis'
import type { Keys, RunKeys } from './keys.ts'
import { labelOf, type Opening, type Skipped, triples } from './positions.ts'
import type { StoredRun } from './runs.ts'
import { loadScript } from './script.ts'

const assignStep = loadScript('assign-step-7')
const claimStep = loadScript('claim-step-1')
const keepStepItem = loadScript('keep-step-item-3')
const returnStepItem = loadScript('return-step-item-6')

const CLAIM_MS = 30_000
const BODIES_MS = 60 * 60 * 1000
/** Steps whose items are remembered; those asked for longest ago give way. By their numbers it could be the one asked for. */
const STEPS_MAX = 256
const TRIES_MAX = 2

/** An item of a step: `made` says which it is, `body` is there for an hour. */
export interface StepItem {
  position: number
  made: { task: string; label: number | null; body: string | undefined } | undefined
}

export class Steps {
  readonly #redis: Redis
  readonly #keys: Keys

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** The items of a step as they stand, in order; `count` is heard from the first call only. Undefined if the run was changed. */
  async assign(run: StoredRun, step: number, count: number, ahead: number): Promise<StepItem[] | undefined> {
    const keys = this.#of(run)
    const texts = (await assignStep(
      this.#redis,
      [keys.run, keys.open, keys.heads, keys.bodies, keys.curriculum, keys.step(step), keys.stepBodies(step)],
      [run.epoch, count, Date.now(), ahead, BODIES_MS, run.revision],
    )) as string[] // as the script says
    if (texts[0] === 'changed') return undefined
    await this.#remember(keys, step)
    return triples(texts).map(([position, state, body]) => ({ position: Number(position), made: madeOf(state, body) }))
  }

  async claim(run: StoredRun, step: number): Promise<Opening[]> {
    const claimed = await claimStep(this.#redis, [this.#of(run).step(step)], [Date.now(), CLAIM_MS])
    return (claimed as string[]).map((position) => ({ position: Number(position) }))
  }

  /** False if the item is not wanted any more: another was faster, or the settings are others. */
  async keep(
    run: StoredRun,
    step: number,
    position: number,
    { task, label, body }: { task: string; label: number | null; body: string },
  ): Promise<boolean> {
    const keys = this.#of(run)
    const args = [position, `${task}|${label ?? ''}`, body, BODIES_MS, run.revision]
    return (await keepStepItem(this.#redis, [keys.run, keys.step(step), keys.stepBodies(step)], args)) === 1
  }

  /** Returns a claimed position; true if it gave way to the next of the sequence. */
  async giveBack(run: StoredRun, step: number, skipped: Skipped, counts: boolean): Promise<boolean> {
    const keys = this.#of(run)
    const args = [skipped.position, counts ? '1' : '0', TRIES_MAX, JSON.stringify(skipped), Date.now()]
    const places = [keys.run, keys.open, keys.heads, keys.skipped, keys.step(step), keys.bodies]
    return (await returnStepItem(this.#redis, places, args)) === 1
  }

  async #remember(keys: RunKeys, step: number): Promise<void> {
    await this.#redis.zadd(keys.steps, Date.now(), String(step))
    const over = (await this.#redis.zcard(keys.steps)) - STEPS_MAX
    if (over <= 0) return
    const old = (await this.#redis.zpopmin(keys.steps, over)).filter((_, k) => k % 2 === 0).map(Number)
    await this.#redis.unlink(...old.flatMap((past) => [keys.step(past), keys.stepBodies(past)]))
  }

  #of({ name, epoch }: StoredRun): RunKeys {
    return this.#keys.ofRun(name, epoch)
  }
}

function madeOf(state: string, body: string): StepItem['made'] {
  if (state.startsWith('-')) return undefined
  const [task = '', label = ''] = state.split('|')
  return { task, label: labelOf(label), body: body === '' ? undefined : body }
}
