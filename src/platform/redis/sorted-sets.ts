/** Sorted sets whose scores are the times at which members were last added. */
import type { Redis } from 'ioredis'
import { defineScript } from './scripts.ts'

const removeMember = defineScript(import.meta.dirname, 'remove-unless-renewed')

/** Removes a member that was added before `time` (ms), and not again since. */
export async function removeUnlessRenewed(redis: Redis, members: string, member: string, time: number): Promise<void> {
  await removeMember(redis, { members }, [member, time])
}
