/** Episodes of ORS: a question and one scored answer or last message. */
import { type Caller, canAccessRun } from '@reasoning-gym-server/contract/caller'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import type { RunSettings } from '@reasoning-gym-server/contract/run-settings'
import { isCorrect } from '@reasoning-gym-server/contract/verdict'
import type { Redis } from 'ioredis'
import { z } from 'zod'
import type { Submission } from '../../../grading/submission.ts'
import { formatRetryPrompt, toTurnText } from '../../../grading/tries.ts'
import type { RedisKeys } from '../../../platform/redis/keys.ts'
import type { Items } from '../../items/items.ts'
import { DEFAULT_PROMPT_SETTINGS } from '../../items/prompt.ts'
import type { Runs } from '../../runs/runs.ts'
import type { SampleScoring } from '../sample-scoring.ts'
import type { SampleResult } from '../samples.ts'
import type { Delivery } from '../trainer-calls.ts'
import { isEvalItem } from './environments.ts'
import {
  ANSWER_TOOL,
  type CallBody,
  type CallResult,
  type Candidate,
  MESSAGE_TOOL,
  type TextBlock,
  textBlock,
} from './wire.ts'

/** A client without data for 30 s gives up. After an earlier 503 it retries for ten minutes (index.ts). */
const RETRY_WINDOW_MS = 20_000

interface EpisodesDeps {
  items: Items
  runs: Runs
  samples: SampleScoring
  sessions: OrsSessions
}

export class OrsEpisodes {
  readonly #deps: EpisodesDeps

  constructor(deps: EpisodesDeps) {
    this.#deps = deps
  }

  /**
   * Throws `not_found`, also for a session of a run that the caller's key may not access, because clients may choose
   * their session IDs.
   */
  async requireSession(id: string, caller: Caller): Promise<Session> {
    const session = await this.findSession(id, caller)
    if (!session) throw createUnknownSessionError()
    return session
  }

  async findSession(id: string, caller: Caller): Promise<Session | undefined> {
    const session = await this.#deps.sessions.get(id)
    return session && (session.run === null || canAccessRun(caller, session.run)) ? session : undefined
  }

  /** Returns the prompt as a user message, because ORS clients have no system prompt. */
  async getPrompt(session: Session): Promise<TextBlock> {
    const { items } = this.#deps
    const { itemId } = session
    const prompt = (await this.#getSettings(session)) ?? DEFAULT_PROMPT_SETTINGS
    const recipe = await items.resolveItemId(itemId)
    const [message] = await items.buildMessages(recipe, { ...prompt, system_prompt_role: 'user' })
    return textBlock(message?.content ?? '', { item_id: itemId, task: recipe.task })
  }

  async #getSettings(session: Session): Promise<RunSettings | undefined> {
    const { run } = session
    if (run === null) return undefined
    return (await this.#deps.runs.require(run, getCondition(session), { fresh: false })).settings
  }

  /** Returns the result as JSON. A repeat of the same call is a retry; a different call after the end is rejected. */
  async call(id: string, session: Session, call: CallBody, delivery: Delivery): Promise<string> {
    const { sessions } = this.#deps
    const submission = readSubmission(call)
    if ('ok' in submission) return JSON.stringify(submission)
    const name = JSON.stringify([call.name, submission])
    const known = await sessions.getResult(id)
    if (known) return known.call === name ? known.result : JSON.stringify(createFinishedError())
    const settings = await this.#getSettings(session)
    let rollout = submission
    if (settings && settings.tries > 1) {
      const before = await sessions.listTurns(id)
      const turn = toTurnText(submission, settings.extraction)
      rollout = { kind: 'turns', turns: [...before, turn] }
      const tried = before.length + 1 < settings.tries ? await this.#score(id, session, submission) : undefined
      if (tried?.verdict.status === 'scored' && !isCorrect(tried.verdict.score)) {
        await sessions.addTurn(id, turn)
        return JSON.stringify(describeTry(tried, formatRetryPrompt(settings.retry_prompt, tried.verdict.feedback)))
      }
    }
    const sample = await this.#score(id, session, rollout, isEvalItem(session.itemId) ? undefined : delivery)
    const kept = await sessions.keepResult(id, { call: name, result: JSON.stringify(describeResult(sample)) })
    return kept.call === name ? kept.result : JSON.stringify(createFinishedError())
  }

  async #score(id: string, session: Session, submission: Submission, delivery?: Delivery): Promise<SampleResult> {
    const [sample] = await this.#deps.samples.score({
      adapter: 'ors',
      samples: [{ itemId: session.itemId, submission, rolloutKey: id }],
      retryWindowMs: RETRY_WINDOW_MS,
      run: session.run ?? undefined,
      condition: getCondition(session),
      delivery,
    })
    if (!sample) throw new ServiceError('internal', 'A sample has no result.')
    return sample
  }

  /** Scores completions of the session's item outside its episode. They are not counted. */
  async scoreGroup(session: Session, candidates: Candidate[]) {
    const results = await this.#deps.samples.score({
      adapter: 'ors',
      run: session.run ?? undefined,
      condition: getCondition(session),
      samples: candidates.map((candidate) => ({ itemId: session.itemId, submission: readCandidate(candidate) })),
      retryWindowMs: RETRY_WINDOW_MS,
    })
    const rewards = results.flatMap(({ verdict }) => (verdict.status === 'scored' ? [verdict.reward] : []))
    if (rewards.length === 0 && results.length > 0)
      throw new ServiceError('engine_unavailable', 'No completion of the group could be scored. Send it again.')
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length
    return results.map((result) => ({ reward: result.verdict.reward ?? mean, metadata: describeVerdict(result) }))
  }
}

/** A session never creates its run again after it was deleted. */
function getCondition({ incarnation }: Session): RunCondition {
  return incarnation === undefined ? 'exists' : [incarnation]
}

function createUnknownSessionError(): ServiceError {
  return new ServiceError(
    'not_found',
    'Active environment not found: the session was deleted, or silent for too long. Create another one.',
  )
}

/** Returns the answer that a tool call submits, or the reason why the call is invalid. */
function readSubmission({ name, input }: CallBody): Submission | Extract<CallResult, { ok: false }> {
  if (name === ANSWER_TOOL) {
    const { answer } = input
    if (answer === undefined) return createInputError('answer')
    if (typeof answer !== 'string') return { kind: 'answer', answer: JSON.stringify(answer) }
    // The prompt asks for tags, and a model may keep them in the tool call.
    return answer.includes('<answer>') ? { kind: 'completion', completion: answer } : { kind: 'answer', answer }
  }
  if (name === MESSAGE_TOOL) {
    const { message } = input
    return typeof message === 'string' ? { kind: 'completion', completion: message } : createInputError('message')
  }
  return { ok: false, error: `${JSON.stringify(name)} is not a valid tool`, reason: 'not_found' }
}

function createInputError(field: string): Extract<CallResult, { ok: false }> {
  return { ok: false, error: `Tool input validation error: ${field} is missing`, reason: 'input_validation' }
}

function createFinishedError(): CallResult {
  return { ok: false, error: 'The episode has ended: it takes no further answer', reason: 'episode_finished' }
}

/** Returns the visible text of the model's last message. */
function readCandidate({ messages }: Candidate): Submission {
  const last = messages.findLast(({ role }) => role === 'assistant')
  const texts = last?.blocks.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
  return { kind: 'completion', completion: texts?.join('') ?? '' }
}

/** A wrong try: the episode goes on, and the reward is that of the whole episode. */
function describeTry(result: SampleResult, prompt: string): CallResult {
  const output = { blocks: [textBlock(prompt)], metadata: describeVerdict(result), reward: 0, finished: false }
  return { ok: true, output }
}

/** A completion that cannot be scored has no reward, which trainers distinguish from 0. */
function describeResult(result: SampleResult): CallResult {
  const { verdict } = result
  const said = verdict.status === 'scored' && verdict.feedback ? `\n${verdict.feedback.text}` : ''
  const text =
    verdict.status === 'scored' ? `Reward: ${verdict.reward}${said}` : `The answer could not be scored: ${verdict.code}`
  const metadata = describeVerdict(result)
  return { ok: true, output: { blocks: [textBlock(text)], metadata, reward: verdict.reward, finished: true } }
}

function describeVerdict({ itemId, recipe, verdict }: SampleResult): Record<string, unknown> {
  const item = { item_id: itemId ?? null, task: recipe?.task ?? null, unscored: verdict.status === 'unscored' }
  return verdict.status === 'scored'
    ? {
        ...item,
        score: verdict.score,
        fault: verdict.fault,
        answer: verdict.answer,
        code: null,
        ...(verdict.feedback && { feedback: verdict.feedback }),
      }
    : { ...item, score: null, fault: null, answer: null, code: verdict.code }
}

/** Clients ping every ten seconds. A session that is silent for this long expires, as on the original server. */
const SESSION_TTL_S = 900
/** Longer than a model thinks about its next try. */
const TURNS_TTL_S = 86_400

const Session = z.object({
  run: z.string().nullable(),
  /** Incarnation of the run. */
  incarnation: z.string().optional(),
  itemId: z.string(),
  /** Digest of the create request; a repeat of the same request is a retry. */
  source: z.string(),
})
type Session = z.infer<typeof Session>

const StoredResult = z.object({ call: z.string(), result: z.string() })
type StoredResult = z.infer<typeof StoredResult>

/**
 * Sessions of ORS in Redis, so that any node can answer. A session holds an item, and the result once its episode has
 * ended.
 */
export class OrsSessions {
  readonly #redis: Redis
  readonly #keys: RedisKeys

  constructor(redis: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
  }

  /** Returns the session with this ID: the new one, or the one that already existed. */
  create(id: string, session: Session): Promise<Session> {
    return this.#keepFirst(this.#key(id, 'session'), Session, session)
  }

  /** Returns undefined if the session does not exist or has expired; otherwise extends its lifetime. */
  get(id: string): Promise<Session | undefined> {
    return this.#get(this.#key(id, 'session'), Session)
  }

  /** Returns the texts of the wrong tries so far, in order. */
  listTurns(id: string): Promise<string[]> {
    return this.#redis.lrange(this.#key(id, 'turns'), 0, -1)
  }

  async addTurn(id: string, text: string): Promise<void> {
    const key = this.#key(id, 'turns')
    await this.#redis.multi().rpush(key, text).expire(key, TURNS_TTL_S).exec()
  }

  /** Stores the first result of the session, from any caller, and returns it. */
  keepResult(id: string, result: StoredResult): Promise<StoredResult> {
    return this.#keepFirst(this.#key(id, 'result'), StoredResult, result)
  }

  getResult(id: string): Promise<StoredResult | undefined> {
    return this.#get(this.#key(id, 'result'), StoredResult)
  }

  async delete(id: string): Promise<void> {
    await this.#redis.unlink(this.#key(id, 'session'), this.#key(id, 'result'), this.#key(id, 'turns'))
  }

  async #keepFirst<T>(key: string, schema: z.ZodType<T>, value: T): Promise<T> {
    const isNew = await this.#redis.set(key, JSON.stringify(value), 'EX', SESSION_TTL_S, 'NX')
    return isNew ? value : ((await this.#get(key, schema)) ?? value)
  }

  async #get<T>(key: string, schema: z.ZodType<T>): Promise<T | undefined> {
    const json = await this.#redis.getex(key, 'EX', SESSION_TTL_S)
    return json === null ? undefined : schema.parse(JSON.parse(json))
  }

  /** JSON: item of the session, and the call that ended its episode with its result; a list of the texts of its wrong tries. */
  #key(id: string, part: 'session' | 'result' | 'turns'): string {
    return `${this.#keys.slot(`ors:${id}`)}:${part}`
  }
}
