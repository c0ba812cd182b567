/** The schedules of open groups. */
import type { Schedule } from '../../../../platform/queue/schedules.ts'

/** Closes idle groups, and finishes what killed processes have left. */
export const sweepOpenGroupsSchedule: Schedule = { name: 'sweep-open-groups', everyMs: 5_000 }
