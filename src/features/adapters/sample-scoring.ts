/**
 * Scores the samples of one trainer call. A fault in a sample makes it unscored, because an error would cost the others
 * their rewards. Failures of the server are retried while the client waits, and thrown after that.
 */
import { type ErrorCode, isTemporaryFailure, ServiceError } from '@reasoning-gym-server/contract/errors'
import { isEvalSeed, type Recipe } from '@reasoning-gym-server/contract/recipe'
import { type RunSettings, resolveSettings } from '@reasoning-gym-server/contract/run-settings'
import type { Verdict } from '@reasoning-gym-server/contract/verdict'
import { type Engine, NoResultError } from '../../engine/engine.ts'
import type { Grader } from '../../grading/grader.ts'
import { type GroupScoringRules, gradeGroup } from '../../grading/group-advantages.ts'
import { applyFinishReason, type Submission } from '../../grading/submission.ts'
import { limitTurns } from '../../grading/tries.ts'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { Items } from '../items/items.ts'
import { hashText } from '../rollouts/group-counters.ts'
import { scoreByItem } from '../rollouts/rollout-scoring.ts'
import { runContendedError } from '../runs/errors.ts'
import type { Runs } from '../runs/runs.ts'
import type { TaskStatistics } from '../runs/task-statistics.ts'
import type { ResolvedRun } from '../runs/types.ts'
import type { RolloutTurns } from './rollout-turns.ts'
import {
  type GradedSample,
  isItemFault,
  type Sample,
  type SampleCall,
  type SampleCollector,
  type SampleResult,
  type SampleResultVerdict,
} from './samples.ts'
import { awaitSiblings, lacksReward, substituteGroupMeans, substituteTaskMeans } from './substitute-rewards.ts'
import { retryUntil } from './trainer-calls.ts'

interface SampleScoringDeps {
  engine: Pick<Engine, 'assertReady'>
  items: Items
  grader: Grader
  runs: Runs
  taskStatistics: Pick<TaskStatistics, 'readSums'>
  collector?: SampleCollector
  turns: RolloutTurns
  recorder: MetricsRecorder
}

const DEFAULT_SETTINGS = resolveSettings({})
/** Number of regradings, because the run's settings may change while its samples are graded. */
const MAX_RUN_CHANGES = 5
/** Failures of one item. They end the call only if it needs a number for each sample. */
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
    const graded =
      run === undefined ? await this.#gradeAll(call, undefined, deadline) : await this.#scoreForRun(run, call, deadline)
    const results = await this.#substitute(call, graded)
    this.#deps.recorder.recordSamples(
      adapter,
      results.map(({ verdict }) => verdict),
    )
    return results
  }

  /** Gives each unscored sample the number that the call asks for, and counts it in the run. */
  async #substitute(call: SampleCall, results: SampleResult[]): Promise<SampleResult[]> {
    const { run: name, unscored, condition, caller } = call
    if (unscored === 'null' || results.every(({ verdict }) => verdict.status === 'scored')) return results
    if (name === undefined) return fillIn(unscored, results, {})
    const { runs, taskStatistics, collector } = this.#deps
    const deadline = performance.now() + call.retryWindowMs
    const run = await this.#retry(deadline, () => runs.require(name, condition, { caller })) // its latest counters
    const filled = fillIn(unscored, results, await this.#retry(deadline, () => taskStatistics.readSums(run)))
    const counted = filled.filter((result) => result.substitute !== undefined && !hasEvalSeed(result))
    await collector?.countSubstitutes(run, counted.length)
    return filled
  }

  /** Grades with the cached settings of the run, and again if they turn out to be stale. */
  async #scoreForRun(name: string, call: SampleCall, deadline: number): Promise<SampleResult[]> {
    const { runs, collector, turns } = this.#deps
    const { samples, delivery, condition, caller, unscored, groupSize } = call
    const siblingDeadline = performance.now() + call.siblingWindowMs
    const assembly = delivery && collector?.start(delivery, groupSize)
    let run = await this.#retry(deadline, () => runs.require(name, condition, { fresh: false, caller }))
    for (let k = 0; k < MAX_RUN_CHANGES; k++) {
      const current = run
      const sent = await this.#retry(deadline, () => turns.complete(current, samples))
      const verdicts = await this.#gradeAll({ ...call, samples: sent }, current, deadline)
      const results = await this.#retry(deadline, () => turns.keep(current, sent, verdicts))
      const graded = sent.map((sample, k) =>
        unscored === 'null' && hasUnscoredTry(sample, results[k], current.settings.tries)
          ? undefined
          : toGradedSample(sample, results[k]),
      )
      if (!assembly) return results
      const isRecorded = await this.#retry(deadline, () => assembly.record(current, graded))
      if (isRecorded && unscored !== 'mean') return results
      const wait = { deadline: siblingDeadline, groupSize, signal: this.#closing.signal }
      const means = isRecorded && (await awaitSiblings(assembly, current, graded, wait))
      if (means) return substituteGroupMeans(results, means)
      run = await this.#retry(deadline, () => runs.require(name, condition, { caller }))
    }
    throw runContendedError(name)
  }

  /** Throws the fault that all samples share, if the call needs numbers: later samples will have it too. */
  async #gradeAll(
    { samples, feedback, unscored }: SampleCall,
    run: ResolvedRun | undefined,
    deadline: number,
  ): Promise<SampleResult[]> {
    const settings = run?.settings ?? DEFAULT_SETTINGS
    const rules = feedback === undefined ? settings : { ...settings, feedback }
    const results = await scoreByItem(
      samples,
      ({ itemId }) => itemId,
      (members) => this.#gradeItem(members, run, rules, { deadline, needsNumbers: unscored !== 'null' }),
    )
    const [first] = results
    if (unscored !== 'null' && first?.fault && results.every(({ verdict }) => isItemFault(verdict))) throw first.fault
    return results
  }

  /** On shutdown, calls that wait for Redis or the engine end with their failure. */
  stopRetrying(): void {
    this.#closing.abort()
  }

  #retry<T>(deadline: number, work: () => Promise<T>): Promise<T> {
    return retryUntil(deadline, work, this.#closing.signal)
  }

  /** Grades the samples of one item together. */
  async #gradeItem(
    samples: readonly Sample[],
    run: ResolvedRun | undefined,
    settings: RunSettings,
    { deadline, needsNumbers }: { deadline: number; needsNumbers: boolean },
  ): Promise<SampleResult[]> {
    const { items, grader, engine, recorder } = this.#deps
    const itemId = samples[0]?.itemId
    let recipe: Recipe | undefined
    try {
      if (itemId === undefined || itemId === '')
        throw new ServiceError('invalid_item_id', 'The sample has no item ID. Send the one that came with its prompt.')
      const { known, verdicts, gradingMs } = await this.#retry(deadline, async () => {
        recipe = await items.resolveItemId(itemId)
        const startedAt = performance.now()
        engine.assertReady()
        const submissions = samples.map((sample) => toSubmission(sample, settings.tries))
        const grading = run
          ? grader.gradeWithoutStatistics(recipe, submissions, settings)
          : grader.grade(recipe, submissions, settings, { orThrow: true })
        const graded = await grading.catch(throwRetryable)
        return { known: recipe, verdicts: graded, gradingMs: performance.now() - startedAt }
      })
      if (!run) recorder.recordVerdicts(known.task, verdicts) // samples of a run are counted with their group
      const isOfRun = run?.settings.feedback === settings.feedback
      const grading = run && isOfRun ? this.#describeGrading(run, known, gradingMs) : undefined
      return samples.map((sample, k) => {
        const verdict = verdicts[k]
        if (!verdict) throw new ServiceError('internal', 'The grader returned no verdict.')
        return {
          itemId,
          recipe: known,
          verdict: applyRulesOfOne(verdict, sample, settings),
          known: grading && verdict.status === 'scored' ? { ...grading, verdict } : undefined,
        }
      })
    } catch (error) {
      const fault = toSampleFault(error, needsNumbers)
      const verdict = {
        status: 'unscored',
        reward: null,
        score: null,
        code: fault.code,
        detail: fault.message,
      } as const
      return samples.map(() => ({ itemId, recipe, verdict, fault }))
    }
  }

  #describeGrading(run: ResolvedRun, recipe: Recipe, gradingMs: number) {
    const question = this.#deps.items.getCachedQuestion(recipe)
    return { revision: run.revision, question: question === undefined ? null : hashText(question), gradingMs }
  }
}

function toSubmission({ submission, finishReason }: Sample, tries: number): Submission {
  return applyFinishReason(limitTurns(submission, tries), finishReason)
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

/** An item with an eval seed, as most suites have, gets 0: no model learns from it, and it must not end a training whose run has other tasks. */
function fillIn(unscored: 'mean' | 'zero', results: SampleResult[], sums: Parameters<typeof substituteTaskMeans>[1]) {
  const zeroed = results.map((result) =>
    lacksReward(result) && (unscored === 'zero' || hasEvalSeed(result)) ? { ...result, substitute: 0 } : result,
  )
  return unscored === 'mean' ? substituteTaskMeans(zeroed, sums) : zeroed
}

function hasEvalSeed({ recipe }: Pick<SampleResult, 'recipe'>): boolean {
  return recipe !== undefined && isEvalSeed(recipe.seed)
}

/** An item of a sample was made before. If making it again takes too long, the machine is busy. */
function throwRetryable(error: unknown): never {
  if (error instanceof NoResultError) throw new ServiceError('make_timeout', error.message, { cause: error })
  throw error
}

/** Throws errors that the sample did not cause. */
function toSampleFault(error: unknown, needsNumbers: boolean): ServiceError {
  const isOutage = isTemporaryFailure(error) && (needsNumbers || !FAILURES_OF_ONE_ITEM.includes(error.code))
  if (!(error instanceof ServiceError) || isOutage || error.code === 'internal') throw error
  return error
}

/** Whether a turn before the last one has no score: its client, which gets no number for it, sends it again. */
function hasUnscoredTry({ turn, submission }: Sample, result: SampleResult | undefined, tries: number): boolean {
  if (turn === undefined || result?.verdict.status !== 'unscored') return false
  const turns = submission.kind === 'turns' ? submission.turns.length : 1 + (turn === 'next' ? 0 : turn)
  return turns < tries
}

/** Undefined for a sample that joins no group: a turn before the last one, and items of suites, which measure the run. */
function toGradedSample(sample: Sample, result: SampleResult | undefined): GradedSample | undefined {
  if (result?.itemId === undefined || !result.recipe) return undefined
  const { itemId, recipe, verdict, known, retryPrompt } = result
  if (retryPrompt !== undefined || hasEvalSeed(result)) return undefined
  return { ...sample, itemId, recipe, verdict, known }
}
