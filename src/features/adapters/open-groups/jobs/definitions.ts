/** Schedules of the open-group jobs. */
import type { Schedule } from '../../../../platform/queue/schedules.ts'

/** Closes idle groups and finishes the work of processes that were killed. */
export const sweepOpenGroupsSchedule: Schedule = { name: 'sweep-open-groups', everyMs: 5_000 }
