/** Interface of the dump files for the scoring of groups. Dumps are a later feature. */
import type { PromptMessage } from '@reasoning-gym-server/contract/item'
import type { Recipe } from '@reasoning-gym-server/contract/recipe'
import type { GroupResult } from '../../grading/group.ts'
import type { ResolvedRun } from '../runs/resolved-run.ts'
import type { GroupMetadata, GroupTexts } from './group-payload.ts'
import type { CompleteGroupResult, DumpRecordInput } from './repository.ts'

/** A scored group with everything that a line of a dump file contains. */
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
