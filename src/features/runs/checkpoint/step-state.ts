/** The recorded state of a run after a step, from which a checkpoint can be made (../scripts/parts/step-states.lua). */
import type { Redis } from 'ioredis'
import { defineScript } from '../../../platform/redis/scripts.ts'
import type { AllRunKeys } from '../records.ts'
import { listScriptKeys, SEQUENCE_CONSTANTS } from '../sequence/positions.ts'
import type { StoredRun } from '../types.ts'

const readState = defineScript(import.meta.dirname, 'read-step-state', SEQUENCE_CONSTANTS)

export interface StepState {
  step: number
  /** What the transaction of the repository would have read. */
  replies: unknown[]
  /** The sums of steps and blocks that have changed since, by the end of their key and their name. A new row has none. */
  rows: Record<string, Record<string, Record<string, string>>>
  /** Positions whose items were handed out since. */
  handedOut: ReadonlySet<string>
}

/** Returns the state after a step, or after the latest step before it, or undefined if none is kept. */
export async function readStepState(
  redis: Redis,
  keys: AllRunKeys,
  run: StoredRun,
  step: number,
): Promise<StepState | undefined> {
  const reply = await readState(redis, listScriptKeys(keys, run), [step])
  if (reply === null) return undefined
  const [of, replies, rows, handedOut] = reply as [string, string, string, string[]] // as the script returns them
  return {
    step: Number(of),
    replies: JSON.parse(replies) as unknown[],
    rows: JSON.parse(rows) as StepState['rows'],
    handedOut: new Set(handedOut),
  }
}
