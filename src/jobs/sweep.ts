/** Adds jobs again for groups that stay pending: their job was lost, or could not be added when they were accepted. */
import type { Engine } from '../engine/engine.ts'
import type { Producer } from '../queue/producer.ts'
import { type Groups, jobIdOf } from '../store/groups.ts'
import type { Runs } from '../store/runs.ts'

const EVERY_MS = 5_000
const AGE_MS = 15_000
const MOST = 1000

export interface Sweeping {
  runs: Runs
  groups: Groups
  producer: Producer
  engine: Pick<Engine, 'health'>
}

export function startSweeper(parts: Sweeping, onError: (error: unknown) => void, ageMs = AGE_MS): { close(): void } {
  const timer = setInterval(() => void sweep(parts, ageMs).catch(onError), Math.min(EVERY_MS, ageMs))
  return { close: () => clearInterval(timer) }
}

/**
 * A job's id holds the time, so that a kept failure of the same group does not swallow it; scoring twice does no harm. Without
 * the engine nothing is added: groups wait for it then, and would have one more job each round.
 */
export async function sweep({ runs, groups, producer, engine }: Sweeping, ageMs: number): Promise<number> {
  if (!engine.health().ok) return 0
  let swept = 0
  const round = Math.floor(Date.now() / ageMs)
  for (const name of await runs.names()) {
    const run = await runs.find(name)
    if (!run) continue
    const { epoch } = run
    const ids = await groups.pendingSince(name, epoch, Date.now() - ageMs, MOST)
    if (ids.length === 0) continue
    await producer.add(
      'score-group',
      ids.map((group) => ({
        id: `${jobIdOf({ run: name, epoch, group })}~${round}`,
        data: { run: name, epoch, group },
      })),
    )
    swept += ids.length
  }
  return swept
}
