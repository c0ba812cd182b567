/**
 * What the completion of a graded group does: it is recorded with its line for the dumps and what the run learns from it;
 * then follow metrics, audits, log lines, and the work that it starts.
 */
import type { PromptMessage } from '@reasoning-gym-server/contract/item'
import type { GroupVerdict } from '@reasoning-gym-server/contract/verdict'
import type { Logger } from 'pino'
import type { MetricsRecorder } from '../../platform/metrics/metrics-recorder.ts'
import type { Items } from '../items/items.ts'
import { getCurriculumInput } from '../runs/curriculum/curriculum-input.ts'
import type { FrontierCurriculum } from '../runs/curriculum/frontier-curriculum.ts'
import { createRunLogger } from '../runs/run-logger.ts'
import type { ItemQueue } from '../runs/sequence/item-queue.ts'
import type { ResolvedRun } from '../runs/types.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { AuditScoring } from './audit-scoring.ts'
import type { CompleteGroupResult, CompletionRepository, DumpRecordInput } from './completion-repository.ts'
import { buildGroupSummary, type OutcomeBuilder } from './group-counters.ts'
import type { GradedGroup } from './group-grading.ts'

/** Writes the lines of groups to dump files. Dumps are a later feature. */
export interface GroupDumpWriter {
  /**
   * Prepares the record of a group for its completion. Returns undefined if the group goes to no file or there is no
   * room.
   */
  prepareRecord(graded: GradedGroup, buildPrompt: () => Promise<PromptMessage[]>): Promise<DumpRecordInput | undefined>
  /**
   * Called after the completion of a group with a record. `appended` is undefined if the group was completed before.
   */
  handleAppendResults(
    run: ResolvedRun,
    record: DumpRecordInput,
    appended: CompleteGroupResult['dumpQueueLengths'] | undefined,
  ): Promise<void>
}

interface CompletionRecordingDeps {
  completions: CompletionRepository
  items: Pick<Items, 'buildMessages'>
  tasks: TaskCatalog
  dumps: GroupDumpWriter
  frontier: Pick<FrontierCurriculum, 'describeGroup'>
  outcomes: OutcomeBuilder
  audits: Pick<AuditScoring, 'take'>
}

export type RecordCompletion = ReturnType<typeof createCompletionRecording>

/**
 * The returned function returns undefined if the group was completed before, and `run_changed` if the run's settings
 * have changed since it was graded.
 */
export function createCompletionRecording(deps: CompletionRecordingDeps) {
  const { completions, items, tasks, dumps, frontier, outcomes, audits } = deps
  return async (graded: GradedGroup) => {
    const { ref, run, metadata, result, question } = graded
    const { recipe } = metadata
    const { settings } = run
    const dump = await dumps.prepareRecord(graded, () => items.buildMessages(recipe, settings))
    const completed = await completions.complete(ref, {
      revision: run.revision,
      contentHash: graded.contentHash,
      task: recipe.task,
      result,
      summary: buildGroupSummary(ref.group, recipe, metadata, result),
      retriable: graded.failure !== undefined,
      maxRetainedGroups: settings.keep_groups,
      curriculumInput: getCurriculumInput(run, recipe, result.mean_score ?? null, tasks.list()),
      frontierInput: frontier.describeGroup(run, recipe, result),
      dump,
      outcome: outcomes.build({
        recipe,
        question,
        scoring: settings.scoring,
        result,
        lengths: metadata.rollouts.map(({ length }) => length),
        audits: audits.take(run.name, run.epoch, recipe.task),
      }),
    })
    const dumpQueueLengths = completed === 'run_changed' ? undefined : completed?.dumpQueueLengths
    if (dump) await dumps.handleAppendResults(run, dump, dumpQueueLengths)
    return completed
  }
}

const FORMAT_FAULT_LOG_INTERVAL_MS = 60_000

interface CompletionEffectsDeps {
  recorder: MetricsRecorder
  audits: Pick<AuditScoring, 'check'>
  formatFaults: FormatFaultLogger
  itemQueue: Pick<ItemQueue, 'schedulePrefetch'>
  frontier: Pick<FrontierCurriculum, 'fold'>
  log: Logger
}

type CompletionEffect = (graded: GradedGroup, completed: CompleteGroupResult) => Promise<void> | void
export type AfterCompletion = (graded: GradedGroup, completed: CompleteGroupResult) => Promise<void>

/** The returned function runs the effects in order. None of them changes the group. */
export function createCompletionEffects(deps: CompletionEffectsDeps): AfterCompletion {
  const { recorder, audits, formatFaults, itemQueue, frontier, log } = deps

  const countGroup: CompletionEffect = ({ metadata, result }) => recorder.recordGroup(metadata.recipe.task, result)

  /** Not awaited: an audit never delays a group. The worker waits for it when it closes. */
  const startAudit: CompletionEffect = ({ ref, run, metadata, question, result, gradingMs }) => {
    void audits.check({
      run: run.name,
      epoch: run.epoch,
      group: ref.group,
      recipe: metadata.recipe,
      question,
      rules: run.settings,
      verdicts: result.verdicts,
      gradingMs,
    })
  }

  const countFormatFaults: CompletionEffect = ({ run, result }) => formatFaults.add(run.name, result.verdicts)

  const logCompletion: CompletionEffect = ({ run, result, logFields, startedAt }, { levelChange: level }) => {
    const { status, mean_score, mean_reward, destination, code, detail, verdicts } = result
    const fields = { run: run.name, ...logFields }
    if (status === 'failed') log.warn({ ...fields, code, detail }, 'group scoring failed')
    else log.info({ ...fields, rollouts: verdicts.length, mean_score, mean_reward, destination }, 'group scored')
    if (level && level.before !== level.after) {
      log.info({ ...fields, from: level.before, to: level.after }, 'task difficulty changed')
    }
    const { info } = createRunLogger(log, run.name, run.settings)
    info({ ...logFields, ms: Math.round(performance.now() - startedAt) }, 'job finished')
  }

  /** A new level may be a rung whose items are not made yet. */
  const prefetchNewLevel: CompletionEffect = async ({ run }, { levelChange: level }) => {
    if (level && level.before !== level.after) await itemQueue.schedulePrefetch(run)
  }

  /** If it fails, the evidence waits for the next group or request. */
  const foldEvidence: CompletionEffect = async ({ run }, { hasFrontierEvidence }) => {
    if (!hasFrontierEvidence) return
    try {
      if ((await frontier.fold(run)).length > 0) await itemQueue.schedulePrefetch(run)
    } catch (err) {
      log.warn({ err, run: run.name }, 'the curriculum could not be updated from scored groups; the next group retries')
    }
  }

  const effects = [countGroup, startAudit, countFormatFaults, logCompletion, prefetchNewLevel, foldEvidence]
  return async (graded, completed) => {
    for (const effect of effects) await effect(graded, completed)
  }
}

/** Counts format faults and logs one line per run and minute. */
export class FormatFaultLogger {
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  #countsByRun = new Map<string, { rollouts: number; faults: Record<string, number> }>()

  constructor(log: Logger) {
    this.#log = log
    this.#timer = setInterval(() => this.flush(), FORMAT_FAULT_LOG_INTERVAL_MS)
  }

  add(run: string, verdicts: GroupVerdict[]): void {
    const counts = this.#countsByRun.get(run) ?? { rollouts: 0, faults: {} }
    this.#countsByRun.set(run, counts)
    for (const verdict of verdicts) {
      if (verdict.status !== 'scored') continue
      counts.rollouts += 1
      if (verdict.fault) counts.faults[verdict.fault] = (counts.faults[verdict.fault] ?? 0) + 1
    }
  }

  flush(): void {
    for (const [run, { rollouts, faults }] of this.#countsByRun) {
      const count = Object.values(faults).reduce((sum, n) => sum + n, 0)
      if (count > 0) this.#log.info({ run, rollouts, faults }, `${count} of ${rollouts} completions have format faults`)
    }
    this.#countsByRun = new Map()
  }

  close(): void {
    clearInterval(this.#timer)
    this.flush()
  }
}
