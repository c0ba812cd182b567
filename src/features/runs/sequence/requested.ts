/** Items that stay the same for every request: those of a training step, and those of positions requested by number. */

import type { Redis } from 'ioredis'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import { redisNow } from '../../../platform/redis/redis-clock.ts'
import { defineScript } from '../../../platform/redis/scripts.ts'
import { splitList } from '../../../platform/split-list.ts'
import { type AllRunKeys, createRunKeys } from '../records.ts'
import type { StoredRun } from '../types.ts'
import { parseVariant, roundPropensity, STEPS_PER_CHUNK } from './issued-items.ts'
import { type MadeItem, parseDifficulty } from './position-state.ts'
import { listScriptKeys, SEQUENCE_CONSTANTS } from './positions.ts'

const requestStep = defineScript(import.meta.dirname, 'request-step', SEQUENCE_CONSTANTS)
const requestPositions = defineScript(import.meta.dirname, 'request-positions', SEQUENCE_CONSTANTS)

/** What is needed to make an issued item again. */
interface IssuedItem extends MadeItem {
  position: number
}

export type RequestOutcome =
  /** Items issued now or before, in the order of their positions. */
  | { kind: 'issued'; items: IssuedItem[] }
  /** Positions whose items must be made first. Empty if too few positions are open now. */
  | { kind: 'unmade'; positions: number[] }
  /** Positions that have no item and never will have one. */
  | { kind: 'no_item'; positions: number[] }
  /** The step has another number of items. */
  | { kind: 'other_count'; count: number }
  /** Positions from `end` on cannot be requested now. */
  | { kind: 'too_far'; end: number }
  /** The run began a new epoch or has other settings. */
  | { kind: 'run_changed' }

/**
 * Positions and steps whose items are fixed once they are issued. PositionRepository describes the states and
 * transitions.
 */
export class RequestedPositions {
  readonly #redis: Redis
  readonly #keys: AllRunKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = createRunKeys(keys)
  }

  /**
   * Requests the items of a step. The first call for a step decides their number, which is 1 if `count` is undefined.
   */
  async requestStep(
    run: StoredRun,
    step: number,
    { count, prefetchTarget }: { count: number | undefined; prefetchTarget: number },
  ): Promise<RequestOutcome> {
    const call = { ...describeCall(run, prefetchTarget), step: String(step), count }
    return parseReply(await requestStep(this.#redis, this.#scriptKeys(run), [JSON.stringify(call)]))
  }

  /**
   * Requests the items of positions `position` … `position + count - 1`. If `position` is undefined, takes positions
   * that nothing has requested, and returns them as `unmade`.
   */
  async requestPositions(
    run: StoredRun,
    position: number | undefined,
    { count, prefetchTarget }: { count: number; prefetchTarget: number },
  ): Promise<RequestOutcome> {
    const call = { ...describeCall(run, prefetchTarget), first: position, count }
    return parseReply(await requestPositions(this.#redis, this.#scriptKeys(run), [JSON.stringify(call)]))
  }

  #scriptKeys(run: StoredRun) {
    return listScriptKeys(this.#keys, run)
  }
}

function describeCall({ epoch, revision }: StoredRun, prefetchTarget: number) {
  return { epoch: String(epoch), revision: String(revision), now: redisNow(), to_open: prefetchTarget }
}

function parseReply(reply: unknown): RequestOutcome {
  const [kind, ...rest] = (reply as (string | number)[]).map(String) // as the scripts return them
  const numbers = rest.map(Number)
  switch (kind) {
    case 'issued':
      return { kind, items: splitList(rest, 5).map(parseItem) }
    case 'unmade':
    case 'no_item':
      return { kind, positions: numbers }
    case 'other_count':
      return { kind, count: numbers[0] ?? 0 }
    case 'too_far':
      return { kind, end: numbers[0] ?? 0 }
    default:
      return { kind: 'run_changed' }
  }
}

function parseItem([position, variant = '', difficulty = '', retry, drawn]: string[]): IssuedItem {
  const made = { position: Number(position), ...parseVariant(variant), difficulty: parseDifficulty(difficulty) }
  const propensity = roundPropensity(Number(drawn))
  return { ...made, propensity, ...(Number(retry) > 0 && { retry: Number(retry) }) }
}

/**
 * The positions of training steps are stored as text: `;7=0+64,70+2` says that step 7 has positions 0 to 63, 70 and 71.
 * scripts/request-step.lua has the same codec in Lua. This is the first of some consecutive positions, and their number.
 */
type Stretch = [first: number, count: number]

export interface StepPositions {
  step: number
  positions: Stretch[]
}

export function parseSteps(chunk: string): StepPositions[] {
  return chunk
    .split(';')
    .slice(1)
    .map((text) => {
      const [step = '', stretches = ''] = text.split('=')
      return { step: Number(step), positions: stretches.split(',').map(parseStretch) }
    })
}

/** Formats steps as chunks, keyed by chunk number. */
export function formatSteps(steps: StepPositions[]): Record<string, string> {
  const chunks = Map.groupBy(steps, ({ step }) => Math.floor(step / STEPS_PER_CHUNK))
  return Object.fromEntries([...chunks].map(([number, list]) => [number, list.map(formatStep).join('')]))
}

function parseStretch(text: string): Stretch {
  const [first = 0, count = 0] = text.split('+').map(Number)
  return [first, count]
}

function formatStep({ step, positions }: StepPositions): string {
  return `;${step}=${positions.map(([first, count]) => `${first}+${count}`).join(',')}`
}
