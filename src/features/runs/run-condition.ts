/** Checks the condition that a call sets on its run. */
import type { RunCondition } from '@reasoning-gym-server/contract/run-condition'
import { runRecreatedError } from './run-errors.ts'

export function meetsRunCondition(run: { uuid: string } | undefined, condition: RunCondition | undefined): boolean {
  if (condition === undefined) return true
  return run !== undefined && (condition === 'exists' || condition.includes(run.uuid))
}

/** Throws `run_recreated`. */
export function assertRunCondition(
  name: string,
  run: { uuid: string } | undefined,
  condition: RunCondition | undefined,
): void {
  if (!meetsRunCondition(run, condition)) throw runRecreatedError(name, run)
}
