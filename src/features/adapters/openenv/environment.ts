/**
 * Episodes of one item and one completion, which OpenEnv calls an environment, and the items that they begin with.
 * Independent of the transport.
 */

import { createHash, randomInt, randomUUID } from 'node:crypto'
import type { Caller } from '@reasoning-gym-server/contract/caller'
import { isTemporaryFailure, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Item } from '@reasoning-gym-server/contract/item'
import { CLIENT_SEEDS_END, type RecipeInput } from '@reasoning-gym-server/contract/recipe'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { isCorrect } from '@reasoning-gym-server/contract/verdict'
import type { Submission } from '../../../grading/submission.ts'
import { formatRetryPrompt, toTurnText } from '../../../grading/tries.ts'
import { type Items, isMakeFailure } from '../../items/items.ts'
import { buildPromptMessages, DEFAULT_PROMPT_SETTINGS, type PromptSettings } from '../../items/prompt.ts'
import type { Runs } from '../../runs/runs.ts'
import type { ItemQueue } from '../../runs/sequence/item-queue.ts'
import type { ResolvedRun } from '../../runs/types.ts'
import type { TaskCatalog } from '../../tasks/task-catalog.ts'
import { isEvalItem, type OrsEnvironments } from '../ors/environments.ts'
import type { SampleScoring } from '../sample-scoring.ts'
import type { Sample, SampleCall, SampleResult } from '../samples.ts'
import { type Delivery, retryUntil } from '../trainer-calls.ts'
import {
  EpisodeId,
  FrameRejection,
  type ItemSeries,
  type ObservationData,
  parseReset,
  type ResetTarget,
  readAction,
} from './wire.ts'

/** How long to retry failures of the server: OpenEnv's client gives up on a message after 60 seconds. */
const RETRY_WINDOW_MS = 45_000

interface Episode {
  /** ID of the rollout, so that the rollout counts once. */
  readonly id: string
  readonly itemId: string
  readonly question: string
  readonly metadata: Record<string, unknown>
  stepCount: number
  /** Settings of the run, if it allows more than one try. */
  readonly retries: RunSettings | undefined
  /** Texts of the wrong tries so far. */
  readonly turns: string[]
  /** Scored completion and its response, once there is one. */
  result?: { digest: string; data: ObservationData }
}

/** State of a connection. */
export interface OpenEnvSession {
  readonly run: string | undefined
  /** Whether calls of a connection share the session, so that an episode can have several tries. */
  readonly isConnection?: boolean
  readonly caller: Caller
  /** The run that the connection has used first. Another one of the same name is none of its business. */
  condition?: RunCondition
  /** Does work that writes, and resolves once its result may be sent. Responses over HTTP are held back for all routes. */
  readonly confirm?: <T>(work: () => Promise<T>) => Promise<T>
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
    const episode = await confirmed(session, () => this.#open(session, target, episodeId))
    return { observation: { question: episode.question }, reward: null, done: false, metadata: episode.metadata }
  }

  /**
   * Scores a completion. It ends the episode, unless it is wrong and the run allows another try. An unscored completion is an error and leaves the episode open. A
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
    if (!episode.retries) return this.#finish(session, episode, digest, sample, delivery)
    const { tries, extraction, retry_prompt } = episode.retries
    const turns = [...episode.turns, toTurnText(submission, extraction)]
    if (turns.length < tries) {
      const verdict = await this.#score(session, episode, sample) // in no group: the whole rollout will be in one
      if (!isCorrect(verdict.score)) {
        episode.stepCount++
        episode.turns.push(...turns.slice(-1))
        const metadata = { ...describeVerdict(episode, verdict), tries_left: tries - turns.length }
        const question = formatRetryPrompt(retry_prompt, verdict.feedback)
        return { observation: { question }, reward: 0, done: false, metadata }
      }
    }
    return this.#finish(session, episode, digest, { ...sample, submission: { kind: 'turns', turns } }, delivery)
  }

  async #finish(
    session: OpenEnvSession,
    episode: Episode,
    digest: string,
    sample: Sample,
    delivery: Delivery,
  ): Promise<ObservationData> {
    const verdict = await this.#score(session, episode, sample, isEvalItem(episode.itemId) ? undefined : delivery)
    episode.stepCount++
    const { reward } = verdict
    const metadata = describeVerdict(episode, verdict)
    const observed = { observation: { question: episode.question }, reward, done: true, metadata }
    episode.result = { digest, data: observed }
    return observed
  }

  async #score(session: OpenEnvSession, episode: Episode, sample: Sample, delivery?: Delivery) {
    const call: SampleCall = {
      adapter: 'openenv',
      run: session.run,
      condition: session.condition,
      caller: session.caller,
      samples: [sample],
      retryWindowMs: RETRY_WINDOW_MS,
      delivery,
    }
    const [result] = await confirmed(session, () => this.#deps.samples.score(call))
    if (!result) throw new ServiceError('internal', 'The sample has no result.')
    const { verdict } = result
    if (verdict.status === 'scored') return verdict
    episode.stepCount++
    const message = `The completion could not be scored (${verdict.code}): ${verdict.detail}. The episode is still open`
    throw new FrameRejection('EXECUTION_ERROR', message, { unscored: verdict.code, item_id: episode.itemId })
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
    const { item, prompt, series, settings } = await retryUntil(deadline, () => this.#deps.items.find(session, target))
    const { id, task, category, difficulty, messages } = item
    const [shown] = buildPromptMessages(item, { ...prompt, system_prompt_role: 'user' })
    const ids = { item_id: id, episode_id: episodeId, ...(session.run !== undefined && { run: session.run }) }
    const place = target.kind === 'position' ? { position: target.position } : {}
    session.episode = {
      id: episodeId,
      itemId: id,
      question: shown?.content ?? item.question,
      metadata: { ...ids, ...place, task, category, difficulty, messages },
      stepCount: 0,
      retries: session.isConnection && settings && settings.tries > 1 ? settings : undefined,
      turns: [],
    }
    if (series) session.series = series
    return session.episode
  }
}

function describeVerdict({ metadata }: Episode, verdict: Extract<SampleResult['verdict'], { status: 'scored' }>) {
  const { score, answer, fault, penalty, feedback } = verdict
  const { messages: _shown, ...about } = metadata // the reset response already contained the messages
  return { ...about, score, answer, fault, penalty, ...(feedback && { feedback }) }
}

function confirmed<T>({ run, confirm }: OpenEnvSession, work: () => Promise<T>): Promise<T> {
  return run === undefined || !confirm ? work() : confirm(work)
}

function digestOf(submission: Submission): string {
  return createHash('sha256').update(JSON.stringify(submission)).digest('base64')
}

/** Number of attempts at a random item. Some tasks have no item for some seeds. */
const RANDOM_ATTEMPTS = 5
/** Timeout of one attempt to get an item that is still being made; the reset retries. */
const POSITION_WAIT_MS = 5000

interface EpisodeItemsDeps {
  items: Items
  tasks: TaskCatalog
  runs: Runs
  itemQueue: ItemQueue
  /** Resolves a split and an index. */
  environments: Pick<OrsEnvironments, 'requireTask'>
}

interface FoundItem {
  item: Item
  prompt: PromptSettings
  settings?: RunSettings | undefined
  /** Series from which a reset without arguments continues. */
  series?: ItemSeries
}

/** Finds the item that a reset requests: by ID, position, split, recipe or seed, the next item of a run, or a random item. */
export class EpisodeItems {
  readonly #deps: EpisodeItemsDeps

  constructor(deps: EpisodeItemsDeps) {
    this.#deps = deps
  }

  /**
   * The session is bound to the run that it finds first. Throws FrameRejection, or ServiceError: `run_recreated` if its run is
   * no longer there.
   */
  async find(session: OpenEnvSession, target: ResetTarget): Promise<FoundItem> {
    const { run: name, condition, caller } = session
    const run = name === undefined ? undefined : await this.#deps.runs.require(name, condition, { caller })
    if (run) session.condition ??= [run.incarnation]
    return { ...(await this.#findItem(run, target, session.series)), settings: run?.settings }
  }

  async #findItem(
    run: ResolvedRun | undefined,
    target: ResetTarget,
    before: ItemSeries | undefined,
  ): Promise<FoundItem> {
    const prompt = run?.settings ?? DEFAULT_PROMPT_SETTINGS
    switch (target.kind) {
      case 'item':
        return { item: await this.#getById(target.itemId, prompt), prompt }
      case 'series':
        return { item: await this.#getByRecipe(target.series.recipe, prompt), prompt, series: target.series }
      case 'position':
        return { item: await this.#getAtPosition(run, target.position), prompt }
      case 'split': {
        const environment = { name: run?.name ?? '', run: run?.name }
        const spec = await this.#deps.environments.requireTask(environment, target.split, target.index)
        const isItem = 'item_id' in spec
        return {
          item: await (isItem ? this.#getById(spec.item_id, prompt) : this.#getAtPosition(run, spec.position)),
          prompt,
        }
      }
      case 'seed':
        return run
          ? { item: await this.#getAtPosition(run, target.seed), prompt }
          : { item: await this.#getByRecipe(this.#recipeOfSeed(target.seed), prompt), prompt }
      case 'next':
        return run ? { item: await this.#getNext(run), prompt } : this.#getFurther(before)
    }
  }

  async #getById(itemId: string, prompt: PromptSettings): Promise<Item> {
    const { items } = this.#deps
    return items.formatItem(await items.getOrCreateOne(await items.resolveItemId(itemId)), prompt)
  }

  async #getByRecipe(recipe: RecipeInput, prompt: PromptSettings): Promise<Item> {
    const { items } = this.#deps
    return items.formatItem(await items.getOrCreateOne(await items.resolveRecipe(recipe)), prompt)
  }

  async #getAtPosition(run: ResolvedRun | undefined, position: number): Promise<Item> {
    if (!run)
      throw new FrameRejection('VALIDATION_ERROR', 'A position is of a run: connect to /openenv/{run}, or give a task')
    const [item] = await this.#deps.itemQueue.requirePositions(run, { position, count: 1 }, POSITION_WAIT_MS)
    if (!item) throw new ServiceError('internal', `The position ${position} has no item.`)
    return item
  }

  async #getNext(run: ResolvedRun): Promise<Item> {
    const { items, waiting_for } = await this.#deps.itemQueue.next(run, 1)
    const [item] = items
    if (item) return item
    const reason = waiting_for ? 'max_groups_ahead of the run is reached' : 'no item is ready'
    throw new ServiceError('items_not_ready', `The run has no further item at the moment: ${reason}. Retry.`)
  }

  /** Without a run, returns the next item of the connection's series, or a random item. */
  async #getFurther(series: ItemSeries | undefined): Promise<FoundItem> {
    const prompt = DEFAULT_PROMPT_SETTINGS
    if (!series) return { item: await this.#getRandom(prompt), prompt }
    const { recipe, size } = series
    const index = size === undefined ? recipe.index + 1 : (recipe.index + 1) % size
    const next = { ...series, recipe: { ...recipe, index } }
    return { item: await this.#getByRecipe(next.recipe, prompt), prompt, series: next }
  }

  async #getRandom(prompt: PromptSettings): Promise<Item> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#getByRecipe(this.#recipeOfSeed(randomInt(CLIENT_SEEDS_END)), prompt)
      } catch (error) {
        const mayBeLuck = isMakeFailure(error) || isTemporaryFailure(error)
        if (!mayBeLuck || attempt === RANDOM_ATTEMPTS) throw error
      }
    }
  }

  /** Derives the task from the seed as well, so that equal seeds give equal items. */
  #recipeOfSeed(seed: number): RecipeInput {
    const names = this.#deps.tasks
      .list()
      .map(({ name }) => name)
      .toSorted()
    const chosen = createHash('sha256').update(`openenv/${seed}`).digest().readUInt32BE() % names.length
    return { task: names[chosen] ?? '', seed: seed % CLIENT_SEEDS_END, index: 0 }
  }
}
