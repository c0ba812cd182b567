/** What `npm run verify -- keys --record` found out about the answer keys of each task of the library, recorded in keys.json. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { KeyCheck, KeyFaults } from '@reasoning-gym-server/contract/task'
import { CORRECTIONS } from '@reasoning-gym-server/scorers/corrections/corrections'
import { z } from 'zod'

export const KEYS_FILE = join(import.meta.dirname, 'keys.json')

const RecordedKeyCheck = z.strictObject({
  ...KeyCheck.omit({ correction: true }).shape,
  worst_rung: KeyFaults.describe('Of the library, each share where it is largest: on a rung or at the defaults'),
})

export const RecordedKeyChecks = z.strictObject({
  engine: z.string().describe('Version of the library'),
  tasks: z.record(z.string(), RecordedKeyCheck),
})
export type RecordedKeyChecks = z.infer<typeof RecordedKeyChecks>

export function readKeyChecks(): RecordedKeyChecks {
  return RecordedKeyChecks.parse(JSON.parse(readFileSync(KEYS_FILE, 'utf8')))
}

let recorded: RecordedKeyChecks | undefined

/** Null for a task that is not the library's. */
export function getKeyCheck(task: string): KeyCheck | null {
  recorded ??= readKeyChecks()
  const recordedCheck = recorded.tasks[task]
  if (recordedCheck === undefined) return null
  const { worst_rung: _, ...check } = recordedCheck
  return { ...check, correction: CORRECTIONS[task]?.reason ?? null }
}
