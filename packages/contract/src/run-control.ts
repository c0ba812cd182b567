/** What a trainer changes in a run: its lifecycle, its mix of tasks, a rewind to a step, and a fork. */
import { z } from 'zod'
import { Count, NullableText } from './common.ts'
import { RunName } from './rollout.ts'
import { SettingsChange, TaskExclusion, TaskSelection } from './run-settings.ts'

export const RunLifecycle = z.enum(['active', 'finished', 'archived']).meta({
  id: 'RunLifecycle',
  description:
    'Whether a run is still in use. `finished`: it never counts as stalled; `archived`: also hidden from `GET /runs`. A run that accepts rollouts is `active` again.',
})
export type RunLifecycle = z.infer<typeof RunLifecycle>

export const RunLifecycleChange = z
  .strictObject({ lifecycle: RunLifecycle })
  .meta({ id: 'RunLifecycleChange', description: 'Request to mark a run as finished, archived or active.' })

export const RunMixChange = z
  .strictObject({
    mix: z
      .strictObject({
        tasks: TaskSelection.describe('All tasks that the run draws from now on, as in the setting `tasks`.'),
      })
      .meta({ id: 'TaskMix', description: 'Tasks with their weights and difficulties.' }),
  })
  .meta({ id: 'RunMixChange', description: 'Request to change the tasks of a run from the next item on.' })
export type RunMixChange = z.infer<typeof RunMixChange>

export const RunChange = z
  .xor([RunLifecycleChange, RunMixChange])
  .meta({ id: 'RunChange', description: 'A change of a run: its lifecycle, or its mix of tasks.' })

export const RunMix = z
  .strictObject({
    number: Count.describe('Number of the mix, from 0 for the first one of the item sequence.'),
    position: Count.describe(
      'First position that had not been handed out. Positions from here on use this mix, up to the next one; earlier positions keep their items.',
    ),
    step: Count.nullable().describe('Latest step that had a batch; null before the first batch.'),
    at: z.string().describe('Time at which the mix was set, ISO 8601.'),
    tasks: TaskSelection,
    exclude: TaskExclusion,
  })
  .meta({ id: 'RunMix', description: 'Tasks that a run draws from, from one position of its item sequence on.' })
export type RunMix = z.infer<typeof RunMix>

export const RunMark = z
  .strictObject({
    kind: z
      .enum(['settings', 'curriculum_reset', 'rewind', 'warning'])
      .describe('What happened: settings changed, the curriculum was reset, a rewind, or a warning that came up.'),
    step: Count.nullable().describe('Latest step that had a batch; null before the first batch.'),
    at: z.string().describe('Time, ISO 8601.'),
    text: z.string().describe('What changed, or the kind of a warning, such as `collapsed`.'),
    task: NullableText.describe('Task of a warning; null for everything else.'),
  })
  .meta({ id: 'RunMark', description: 'What happened to a run at a step, for its charts.' })
export type RunMark = z.infer<typeof RunMark>

const Step = Count.describe("Step by the trainer's own count.")

export const StepEnd = z
  .strictObject({ step: Step })
  .meta({ id: 'StepEnd', description: 'Request to record the state of a run as that after a step.' })

export const RewindRequest = z
  .strictObject({
    step: Step,
    resume_id: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe(
        'ID of this resume of the trainer, the same on all ranks. Of the calls with an ID, the first one rewinds the run, and the others do nothing. Without it, calls do nothing until the next step has ended.',
      ),
  })
  .meta({ id: 'RewindRequest', description: 'Request to make a run what it was after a step.' })

export const ForkRequest = z
  .strictObject({
    name: RunName.describe('Name of the new run.'),
    step: Step.optional().describe('Step after which the fork begins. By default, it begins with the present state.'),
    settings: SettingsChange.optional().describe(
      'Settings that differ from those of the run. Other tasks take effect from the next item on; the seed cannot differ.',
    ),
  })
  .meta({ id: 'ForkRequest', description: 'Request to create a run from the state of another one.' })

export const VoidedCounts = z
  .strictObject({
    groups: Count.describe('Number of groups that no longer count, including queued ones.'),
    queued_groups: Count.describe('Number of groups that waited to be scored.'),
    buffered_groups: Count.describe('Number of groups that left the buffer.'),
    open_batches: Count.describe('Number of batches that were not acknowledged.'),
    open_groups: Count.describe('Number of items whose single samples were being gathered into groups.'),
  })
  .meta({ id: 'VoidedCounts', description: 'What a rewind has voided.' })

export const Rewind = z
  .strictObject({
    run: RunName,
    step: Step,
    voided: VoidedCounts.nullable().describe('What the call has voided; null if the run was at the step already.'),
  })
  .meta({ id: 'Rewind', description: 'A run that is what it was after a step.' })

export const ForkOrigin = z
  .strictObject({
    run: RunName.describe('Run that this one was forked from.'),
    step: Count.nullable().describe('Step after which it was forked; null if it had no steps.'),
  })
  .meta({ id: 'ForkOrigin', description: 'Where a forked run begins.' })
export type ForkOrigin = z.infer<typeof ForkOrigin>
