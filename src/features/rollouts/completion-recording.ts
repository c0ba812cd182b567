/** Records a graded group as completed, with its line for the dumps and what the run learns from it. */
import type { PromptMessage } from '@reasoning-gym-server/contract/item'
import type { GroupResult } from '../../grading/group.ts'
import type { Items } from '../items/items.ts'
import type { FrontierCurriculum } from '../runs/curriculum/frontier-curriculum.ts'
import { getCurriculumInput } from '../runs/curriculum/level.ts'
import type { ResolvedRun } from '../runs/types.ts'
import type { TaskCatalog } from '../tasks/task-catalog.ts'
import type { AuditScoring } from './audit-scoring.ts'
import type { CompleteGroupResult, CompletionRepository, DumpRecordInput } from './completion-repository.ts'
import { buildGroupSummary } from './group-counters.ts'
import type { GradedGroup } from './group-grading.ts'
import type { GroupMetadata, GroupTexts } from './group-payload.ts'
import type { OutcomeBuilder } from './outcome-builder.ts'

/** A scored group with everything that a line of a dump file contains. */
export interface ScoredGroup {
  run: string
  group: string
  prompt: PromptMessage[]
  metadata: GroupMetadata
  texts: GroupTexts
  result: GroupResult
}

/** Writes the lines of groups to dump files. Dumps are a later feature. */
export interface GroupDumpWriter {
  /**
   * Prepares the record of a group for its completion. Returns undefined if the group goes to no file or there is no
   * room.
   */
  prepareRecord(
    run: ResolvedRun,
    result: GroupResult,
    loadGroup: () => Promise<ScoredGroup>,
  ): Promise<DumpRecordInput | undefined>
  /**
   * Called after the completion of a group with a record. `appended` is undefined if the group was completed before.
   */
  handleAppendResults(
    run: ResolvedRun,
    record: DumpRecordInput,
    appended: CompleteGroupResult['dumpQueueLengths'] | undefined,
  ): Promise<void>
}

export interface CompletionRecordingDeps {
  completions: CompletionRepository
  items: Pick<Items, 'buildMessages'>
  tasks: TaskCatalog
  dumps: GroupDumpWriter
  frontier: Pick<FrontierCurriculum, 'describeGroup'>
  outcomes: OutcomeBuilder
  audits: Pick<AuditScoring, 'take'>
}

export type RecordCompletion = (graded: GradedGroup) => Promise<CompleteGroupResult | 'run_changed' | undefined>

/**
 * The returned function returns undefined if the group was completed before, and `run_changed` if the run's settings
 * have changed since it was graded.
 */
export function createCompletionRecording(deps: CompletionRecordingDeps): RecordCompletion {
  const { completions, items, tasks, dumps, frontier, outcomes, audits } = deps
  return async (graded) => {
    const { ref, run, metadata, texts, result, question } = graded
    const { recipe } = metadata
    const { settings } = run
    const dump = await dumps.prepareRecord(run, result, async () => ({
      run: run.name,
      group: ref.group,
      prompt: await items.buildMessages(recipe, settings),
      metadata,
      texts: texts ?? { rollouts: [] },
      result,
    }))
    const completed = await completions.complete(ref, {
      revision: run.revision,
      task: recipe.task,
      difficulty: recipe.difficulty,
      result,
      summary: buildGroupSummary(ref.group, recipe.task, metadata, result),
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
        audits: audits.take(run.name, run.epoch, recipe.task),
      }),
    })
    const dumpQueueLengths = completed === 'run_changed' ? undefined : completed?.dumpQueueLengths
    if (dump) await dumps.handleAppendResults(run, dump, dumpQueueLengths)
    return completed
  }
}
