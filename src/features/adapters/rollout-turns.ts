/**
 * Rollouts whose turns a trainer sends one at a time. Redis keeps the wrong turns by rollout ID and item, so that a restart of the
 * server or of the trainer's environment forgets none, and a turn that is sent again counts once.
 */
import { decodeBlob, encodeBlob } from '@reasoning-gym-server/codec/compressed-blob'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { isCorrect } from '@reasoning-gym-server/contract/verdict'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import { formatRetryPrompt, toTurnText } from '../../grading/tries.ts'
import type { RedisKeys } from '../../platform/redis/keys.ts'
import type { ResolvedRun } from '../runs/types.ts'
import type { Sample, SampleResult } from './samples.ts'

/** Longer than a model thinks about its next turn, and then for the retry of the last one. */
const [OPEN_TTL_S, ENDED_TTL_S] = [7200, 600]
const Turns = z.array(z.string())

export class RolloutTurns {
  readonly #redis: Redis
  readonly #keys: RedisKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Returns the samples, with the whole rollout so far in place of a single turn. Throws `invalid_request` if turns before it are missing. */
  complete(run: ResolvedRun, samples: readonly Sample[]): Promise<Sample[]> {
    return Promise.all(
      samples.map(async (sample) => {
        if (!isTurn(sample) || run.settings.tries === 1 || sample.submission.kind === 'nothing') return sample
        const stored = await this.#redis.getBuffer(this.#key(run, sample))
        const before = stored === null ? [] : Turns.parse(JSON.parse(decodeBlob(stored).toString()))
        const text = toTurnText(sample.submission, run.settings.extraction)
        return { ...sample, submission: { kind: 'turns' as const, turns: append(before, text, sample.turn) } }
      }),
    )
  }

  /** Keeps the turns of the rollouts that have another try, and adds the message to the model to their results. */
  keep(run: ResolvedRun, samples: readonly Sample[], results: readonly SampleResult[]): Promise<SampleResult[]> {
    return Promise.all(
      results.map(async (result, k) => {
        const sample = samples[k]
        const turns =
          sample && isTurn(sample) && sample.submission.kind === 'turns' ? sample.submission.turns : undefined
        if (!sample || !turns) return result
        const retryPrompt = getRetryPrompt(result, turns.length, run.settings)
        if (retryPrompt === undefined) {
          if (turns.length > 1 && result.verdict.status === 'scored')
            await this.#redis.expire(this.#key(run, sample), ENDED_TTL_S)
          return result
        }
        await this.#redis.setex(this.#key(run, sample), OPEN_TTL_S, encodeBlob(Buffer.from(JSON.stringify(turns))))
        return { ...result, retryPrompt }
      }),
    )
  }

  /** Blob of JSON: texts of the wrong turns of a rollout. With its item, because trainers that restart may use an ID for another item. */
  #key({ name, incarnation }: ResolvedRun, { rolloutKey = '', itemId = '' }: Sample): string {
    return `${this.#keys.slot(`turns:${name}:${incarnation}:${rolloutKey}:${itemId}`)}:turns`
  }
}

function isTurn(sample: Sample): boolean {
  return sample.turn !== undefined
}

/** A turn that is sent again replaces itself, and one of an episode that begins again replaces those of the earlier one. */
function append(before: string[], text: string, turn: Sample['turn'] = 'next'): string[] {
  if (turn === 'next') return before.at(-1) === text ? before : [...before, text]
  if (turn > before.length)
    throw new ServiceError(
      'invalid_request',
      `The rollout has ${before.length} earlier turns, and this is turn ${turn}, counted from 0. Send the turns before it first.`,
    )
  return [...before.slice(0, turn), text]
}

function getRetryPrompt({ verdict }: SampleResult, turns: number, settings: RunSettings): string | undefined {
  if (verdict.status === 'unscored' || isCorrect(verdict.score) || turns >= settings.tries) return undefined
  return formatRetryPrompt(settings.retry_prompt, verdict.feedback)
}
