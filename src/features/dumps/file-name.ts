/** Names of dump files, as in the original environment: kind, the run's uuid, the file's number. */
import { type DumpKind, DumpName } from '../../contract/dump.ts'

export interface DumpFileKey {
  uuid: string
  kind: DumpKind
  /** Files of one run and kind count from 0. */
  number: number
}

export function formatDumpFileName({ uuid, kind, number }: DumpFileKey): DumpName {
  const word = kind === 'failed' ? 'FAILED_rollouts' : 'rollouts'
  return `reasoning_gym_environment_${word}_${uuid}_${String(number).padStart(4, '0')}.jsonl`
}

/** Undefined for whatever is no dump file's name. */
export function parseDumpFileName(name: string): DumpFileKey | undefined {
  if (!DumpName.safeParse(name).success) return undefined
  const [number = '', uuid = '', ...rest] = name.replace('.jsonl', '').split('_').toReversed()
  return { uuid, kind: rest.includes('FAILED') ? 'failed' : 'rollouts', number: Number(number) }
}
