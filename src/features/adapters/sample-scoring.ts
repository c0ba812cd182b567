/**
 * Scores the samples of one trainer call. A fault in a sample makes it unscored, because an error would end the
 * trainer's run. Server failures are retried while the client waits, and thrown after that.
 */
import type { AdapterName } from '@reasoning-gym-server/contract/adapter'
import { type ErrorCode, isTemporaryFailure, ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { RunCondition } from '@reasoning-gym-server/contract/run'
import { type RunSettings, resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import type { FeedbackLevel, GroupVerdict, UnscoredCode, Verdict } from '@reasoning-gym-server/contract/verdict'
import type { Engine } from '../../engine/engine.ts'
import type { Grader } from '../../grading/grader.ts'
import { type GroupScoringRules, gradeGroup } from '../../grading/group-advantages.ts'
import { scoreByItem } from '../../grading/score-by-item.ts'
import { hasNoCompletion, type Submission } from '../../grading/submission.ts'
import { limitTurns } from '../../grading/tries.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { Items } from '../items/items.ts'
import { runContendedError } from '../runs/errors.ts'
import type { Runs } from '../runs/runs.ts'
import type { ResolvedRun } from '../runs/types.ts'
import { type Delivery, retryUntil } from './trainer-calls.ts'
import type { AdapterUsage } from './usage.ts'

/** One completion, as a trainer sends it. */
export interface Sample {
  /** ID of the item; undefined if the trainer sent none. */
  itemId: string | undefined
  submission: Submission
  /** Name that the trainer gives the rollout (an episode ID). A retry has the same name and is the same sample. */
  rolloutKey?: string | undefined
  tokens?: number | undefined
  /** Finish reason; `length` means that the token limit cut the completion. */
  finishReason?: string | undefined
}

export interface SampleCall {
  adapter: AdapterName
  /** Run from the path. A call without a run is stateless: it uses the default settings and counts only in metrics. */
  run?: string | undefined
  samples: Sample[]
  /** Overrides the setting of the run. */
  feedback?: FeedbackLevel | undefined
  /** How long to retry failures of the server: the client's timeout minus a margin. */
  retryWindowMs: number
  /** Required incarnation of the run; any other is rejected. */
  condition?: RunCondition | undefined
  /** Required with a run: a sample counts once its response was sent. */
  delivery?: Delivery | undefined
}

interface UnscoredSample {
  status: 'unscored'
  reward: null
  score: null
  /** Code from the grader, or from the error that the sample's item ID caused. */
  code: UnscoredCode | ErrorCode
  detail: string
}

type SampleResultVerdict = Extract<GroupVerdict, { status: 'scored' }> | UnscoredSample

export interface SampleResult {
  itemId: string | undefined
  /** Recipe of the item, or undefined if the item ID could not be read. */
  recipe: Recipe | undefined
  verdict: SampleResultVerdict
}

/** A sample with a known item, and its verdict. */
export interface GradedSample extends Sample {
  itemId: string
  recipe: Recipe
  verdict: SampleResultVerdict
}

/** Collects the samples of items into groups of their run. */
export interface SampleCollector {
  start(delivery: Delivery): CallAssembly
}

/** The samples of one call while they are added to groups. */
export interface CallAssembly {
  /**
   * Records the samples, each at its position in the call, before the response is sent. Returns false if the run has
   * changed since they were graded. Repeated calls record no sample twice.
   */
  record(run: ResolvedRun, samples: readonly (GradedSample | undefined)[]): Promise<boolean>
}

interface SampleScoringDeps {
  engine: Pick<Engine, 'assertReady'>
  items: Items
  grader: Grader
  runs: Runs
  collector?: SampleCollector
  usage: AdapterUsage
  recorder: MetricsRecorder
}

const DEFAULT_SETTINGS = resolveSettings({})
/** Number of regradings, because the run's settings may change while its samples are graded. */
const MAX_RUN_CHANGES = 5
/** Failures that are not retried forever: an item that always fails in this way must not block its trainer. */
const FAILURES_OF_ONE_ITEM: readonly ErrorCode[] = ['make_timeout', 'make_out_of_memory']

export class SampleScoring {
  readonly #deps: SampleScoringDeps
  readonly #closing = new AbortController()

  constructor(deps: SampleScoringDeps) {
    this.#deps = deps
  }

  /**
   * Returns one result for each sample, in order. Throws temporary failures that outlast `retryWindowMs`, and faults of the
   * run.
   */
  async score(call: SampleCall): Promise<SampleResult[]> {
    const { adapter, run } = call
    const deadline = performance.now() + call.retryWindowMs
    const { usage, recorder } = this.#deps
    const results =
      run === undefined ? await this.#gradeAll(call, undefined, deadline) : await this.#scoreForRun(run, call, deadline)
    recorder.recordSamples(
      adapter,
      results.map(({ verdict }) => verdict),
    )
    usage.record(adapter, run, results)
    return results
  }

  /** Grades with the cached settings of the run, and again if they turn out to be stale. */
  async #scoreForRun(name: string, call: SampleCall, deadline: number): Promise<SampleResult[]> {
    const { runs, collector } = this.#deps
    const { samples, delivery, condition } = call
    const assembly = delivery && collector?.start(delivery)
    let run = await this.#retry(deadline, () => runs.getOrCreate(name, condition, { fresh: false }))
    for (let k = 0; k < MAX_RUN_CHANGES; k++) {
      const current = run
      const results = await this.#gradeAll(call, current, deadline)
      const graded = samples.map((sample, position) => toGradedSample(sample, results[position]))
      if (!assembly || (await this.#retry(deadline, () => assembly.record(current, graded)))) return results
      run = await this.#retry(deadline, () => runs.getOrCreate(name, condition))
    }
    throw runContendedError(name)
  }

  #gradeAll(
    { samples, feedback }: SampleCall,
    run: ResolvedRun | undefined,
    deadline: number,
  ): Promise<SampleResult[]> {
    const settings = run?.settings ?? DEFAULT_SETTINGS
    const rules = feedback === undefined ? settings : { ...settings, feedback }
    return scoreByItem(
      samples,
      ({ itemId }) => itemId,
      (members) => this.#gradeItem(members, run, rules, deadline),
    )
  }

  /** On shutdown, calls that wait for Redis or the engine end with their failure. */
  stopRetrying(): void {
    this.#closing.abort()
  }

  #retry<T>(deadline: number, work: () => Promise<T>): Promise<T> {
    return retryUntil(deadline, work, this.#closing.signal)
  }

  recordUnreadable(adapter: AdapterName, run: string | undefined, { code, message }: ServiceError): SampleResult {
    const { recorder, usage } = this.#deps
    const verdict: UnscoredSample = { status: 'unscored', reward: null, score: null, code, detail: message }
    const result: SampleResult = { itemId: undefined, recipe: undefined, verdict }
    recorder.recordSamples(adapter, [verdict])
    usage.record(adapter, run, [result])
    return result
  }

  /** Grades the samples of one item together. */
  async #gradeItem(
    samples: readonly Sample[],
    run: ResolvedRun | undefined,
    settings: RunSettings,
    deadline: number,
  ): Promise<SampleResult[]> {
    const { items, grader, engine, recorder } = this.#deps
    const itemId = samples[0]?.itemId
    let recipe: Recipe | undefined
    try {
      if (itemId === undefined || itemId === '') throw new ServiceError('invalid_item_id', 'The sample has no item ID')
      const known = await this.#retry(deadline, () => items.resolveItemId(itemId))
      recipe = known
      const verdicts = await this.#retry(deadline, () => {
        engine.assertReady()
        const submissions = samples.map((sample) => toSubmission(sample, settings.tries))
        return run
          ? grader.gradeWithoutStatistics(known, submissions, settings)
          : grader.grade(known, submissions, settings, true)
      })
      if (!run) recorder.recordVerdicts(known.task, verdicts) // samples of a run are counted with their group
      return samples.map((sample, k) => {
        const verdict = verdicts[k]
        if (!verdict) throw new ServiceError('internal', 'the grader returned no verdict')
        return { itemId, recipe: known, verdict: applyRulesOfOne(verdict, sample, settings) }
      })
    } catch (error) {
      const verdict = toUnscored(error)
      return samples.map(() => ({ itemId, recipe, verdict }))
    }
  }
}

/** A partial text of a failed generation is not a completion. */
function toSubmission({ submission, finishReason }: Sample, tries: number): Submission {
  return hasNoCompletion(finishReason)
    ? { kind: 'nothing', detail: `finish_reason ${finishReason}` }
    : limitTurns(submission, tries)
}

/**
 * Penalties and masks of a run need the length or the finish reason. Penalties of a whole group cannot apply to a
 * single sample.
 */
function applyRulesOfOne(
  verdict: Verdict,
  { tokens, finishReason }: Sample,
  settings: GroupScoringRules,
): SampleResultVerdict {
  if (verdict.status === 'unscored') return verdict
  const alone = { ...verdict, advantage: verdict.reward }
  if (tokens === undefined && finishReason === undefined && !verdict.turns) return alone
  const { length_penalty } = settings
  const rules = { ...settings, length_penalty: typeof length_penalty === 'object' ? length_penalty : false }
  return gradeGroup([{ length: tokens, finish_reason: finishReason }], [verdict], rules, false).verdicts[0] ?? alone
}

/** Throws errors that the sample did not cause. */
function toUnscored(error: unknown): UnscoredSample {
  const isOutage = isTemporaryFailure(error) && !FAILURES_OF_ONE_ITEM.includes(error.code)
  if (!(error instanceof ServiceError) || isOutage || error.code === 'internal') throw error
  return { status: 'unscored', reward: null, score: null, code: error.code, detail: error.message }
}

function toGradedSample(sample: Sample, result: SampleResult | undefined): GradedSample | undefined {
  if (result?.itemId === undefined || !result.recipe) return undefined
  return { ...sample, itemId: result.itemId, recipe: result.recipe, verdict: result.verdict }
}
