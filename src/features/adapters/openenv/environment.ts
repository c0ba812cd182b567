/** Episodes of one item and one completion, which OpenEnv calls an environment. Independent of the transport. */
import { createHash, randomUUID } from 'node:crypto'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Submission } from '../../../grading/grader.ts'
import { buildPromptMessages } from '../../items/prompt.ts'
import type { SampleCall, SampleScoring } from '../sample-scoring.ts'
import { type Delivery, retryUntil } from '../trainer-calls.ts'
import type { EpisodeItems } from './episode-items.ts'
import { EpisodeId, type ItemSeries, parseReset, type ResetTarget, readAction } from './requests.ts'
import { FrameRejection, type ObservationData } from './wire.ts'

/** How long to retry failures of the server: OpenEnv's client gives up on a message after 60 seconds. */
const RETRY_WINDOW_MS = 45_000

/** An item shown to one model. */
interface Episode {
  /** ID of the rollout, so that the rollout counts once. */
  readonly id: string
  readonly itemId: string
  readonly question: string
  readonly metadata: Record<string, unknown>
  stepCount: number
  /** Scored completion and its response, once there is one. */
  result?: { digest: string; data: ObservationData }
}

/** State of a connection. */
export interface OpenEnvSession {
  /** Run named in the path. */
  readonly run: string | undefined
  episode?: Episode
  series?: ItemSeries
}

interface OpenEnvEnvironmentDeps {
  items: EpisodeItems
  samples: SampleScoring
}

export class OpenEnvEnvironment {
  readonly #deps: OpenEnvEnvironmentDeps

  constructor(deps: OpenEnvEnvironmentDeps) {
    this.#deps = deps
  }

  /** Begins an episode. Throws FrameRejection or ServiceError. */
  async reset(session: OpenEnvSession, data: Record<string, unknown>): Promise<ObservationData> {
    const { target, episodeId } = parseReset(data)
    const episode = await this.#open(session, target, episodeId)
    return { observation: { question: episode.question }, reward: null, done: false, metadata: episode.metadata }
  }

  /**
   * Scores a completion, which ends the episode. An unscored completion is an error and leaves the episode open. A
   * repeat of the same completion returns the same result; a different one is rejected. Throws FrameRejection or
   * ServiceError.
   */
  async step(session: OpenEnvSession, data: Record<string, unknown>, delivery: Delivery): Promise<ObservationData> {
    const episode = await this.#requireEpisode(session, data)
    const { submission, tokens, finishReason } = readAction(data)
    const digest = digestOf(submission)
    if (episode.result) {
      if (episode.result.digest === digest) return episode.result.data
      throw new FrameRejection('EXECUTION_ERROR', 'The episode is done: call reset to begin another')
    }
    const sample = { itemId: episode.itemId, submission, rolloutKey: episode.id, tokens, finishReason }
    const call: SampleCall = {
      adapter: 'openenv',
      run: session.run,
      samples: [sample],
      retryWindowMs: RETRY_WINDOW_MS,
      delivery,
    }
    const [result] = await this.#deps.samples.score(call)
    if (!result) throw new ServiceError('internal', 'the sample has no result')
    episode.stepCount++
    const { verdict } = result
    if (verdict.status === 'unscored') {
      const message = `The completion could not be scored (${verdict.code}): ${verdict.detail}. The episode is still open`
      throw new FrameRejection('EXECUTION_ERROR', message, { unscored: verdict.code, item_id: episode.itemId })
    }
    const { reward, score, answer, fault, penalty } = verdict
    const { messages: _shown, ...about } = episode.metadata // the reset response already contained the messages
    const metadata = { ...about, score, answer, fault, penalty }
    const observed = { observation: { question: episode.question }, reward, done: true, metadata }
    episode.result = { digest, data: observed }
    return observed
  }

  /**
   * Scores a call without a connection. An unscored completion is not an error here: the reward is null and the episode
   * is not done.
   */
  async stepOnce(session: OpenEnvSession, data: Record<string, unknown>, delivery: Delivery): Promise<ObservationData> {
    try {
      return await this.step(session, data, delivery)
    } catch (error) {
      const { episode } = session
      if (!(error instanceof FrameRejection) || error.data.unscored === undefined || !episode) throw error
      const metadata = { ...episode.metadata, unscored: error.data.unscored, detail: error.message }
      return { observation: { question: episode.question }, reward: null, done: false, metadata }
    }
  }

  getState({ episode }: OpenEnvSession): Record<string, unknown> & { episode_id: string | null; step_count: number } {
    if (!episode) return { episode_id: null, step_count: 0 }
    const { id, itemId, stepCount, result } = episode
    return { episode_id: id, step_count: stepCount, item_id: itemId, done: result !== undefined }
  }

  /**
   * Returns the open episode, or opens one for the item that the action names, so that a client can continue after a
   * lost connection.
   */
  async #requireEpisode(session: OpenEnvSession, data: Record<string, unknown>): Promise<Episode> {
    const { episode } = session
    const { item_id: itemId, episode_id } = data
    if (episode && (itemId === undefined || itemId === null || itemId === episode.itemId)) return episode
    if (typeof itemId === 'string')
      return this.#open(session, { kind: 'item', itemId }, EpisodeId.safeParse(episode_id).data)
    throw new FrameRejection(
      'EXECUTION_ERROR',
      'No episode is open on this connection: call reset first, or send item_id with the action',
    )
  }

  async #open(session: OpenEnvSession, target: ResetTarget, episodeId: string = randomUUID()): Promise<Episode> {
    const deadline = performance.now() + RETRY_WINDOW_MS
    const { item, prompt, series } = await retryUntil(deadline, () =>
      this.#deps.items.find(session.run, target, session.series),
    )
    const { id, task, category, difficulty, messages } = item
    const [shown] = buildPromptMessages(item.question, { ...prompt, system_prompt_role: 'user' })
    const ids = { item_id: id, episode_id: episodeId, ...(session.run !== undefined && { run: session.run }) }
    const place = target.kind === 'position' ? { position: target.position } : {}
    session.episode = {
      id: episodeId,
      itemId: id,
      question: shown?.content ?? item.question,
      metadata: { ...ids, ...place, task, category, difficulty, messages },
      stepCount: 0,
    }
    if (series) session.series = series
    return session.episode
  }
}

function digestOf(submission: Submission): string {
  return createHash('sha256').update(JSON.stringify(submission)).digest('base64')
}
