/** Names of dump files, as in the original environment: kind, the run's UUID and the file's number. */
import { type DumpKind, DumpName } from '@reasoning-gym-server/contract/dump'

export interface DumpFileKey {
  uuid: string
  kind: DumpKind
  /** Number of the file, counted from 0 for each run and kind. */
  number: number
}

export function formatDumpFileName({ uuid, kind, number }: DumpFileKey): DumpName {
  const word = kind === 'failed' ? 'FAILED_rollouts' : 'rollouts'
  return `reasoning_gym_environment_${word}_${uuid}_${String(number).padStart(4, '0')}.jsonl`
}

/** Returns undefined for names of other files. */
export function parseDumpFileName(name: string): DumpFileKey | undefined {
  if (!DumpName.safeParse(name).success) return undefined
  const [number = '', uuid = '', ...rest] = name.replace('.jsonl', '').split('_').toReversed()
  return { uuid, kind: rest.includes('FAILED') ? 'failed' : 'rollouts', number: Number(number) }
}
