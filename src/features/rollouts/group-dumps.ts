/** What the scoring of groups needs of the dump files, which are a later feature. */
import type { PromptMessage } from '../../contract/item.ts'
import type { Recipe } from '../../contract/recipe.ts'
import type { GroupResult } from '../../grading/group.ts'
import type { ResolvedRun } from '../runs/resolved-run.ts'
import type { GroupMetadata, GroupTexts } from './group-payload.ts'
import type { CompleteGroupResult, DumpRecordInput } from './repository.ts'

/** A scored group with all that a line of a dump file says. */
export interface ScoredGroup {
  run: string
  group: string
  recipe: Recipe
  prompt: PromptMessage[]
  about: GroupMetadata
  texts: GroupTexts
  result: GroupResult
}

export interface GroupDumps {
  /** The record of a group for its completion; undefined if it goes to no file, or if there is no room. */
  prepareRecord(
    run: ResolvedRun,
    result: GroupResult,
    loadGroup: () => Promise<ScoredGroup>,
  ): Promise<DumpRecordInput | undefined>
  /** After the completion of a group with a record. `appended`: undefined if the group was completed before. */
  handleAppendResults(
    run: ResolvedRun,
    record: DumpRecordInput,
    appended: CompleteGroupResult['dumpQueueLengths'] | undefined,
  ): Promise<void>
}
