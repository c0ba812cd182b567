/** Somebody who uses the server for as long as the soak lasts: does the same thing again and again, at a steady pace. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../chaos/seeded-random.ts'
import type { SoakClient } from './soak-client.ts'

export interface Actor {
  name: string
  /** From the start of one round to the start of the next; a round that takes longer is followed at once. */
  everyMs: number
  round: (k: number) => Promise<void>
}

export type CreateActor = (client: SoakClient, random: SeededRandom) => Actor

/** Resolves when the client's signal is aborted and the last round is over. A round that throws is logged as unexpected. */
export async function runActor({ name, everyMs, round }: Actor, client: SoakClient): Promise<void> {
  for (let k = 0; !client.signal.aborted; k++) {
    const next = performance.now() + everyMs
    await round(k).catch((error: Error) => {
      client.log.addUnexpected(
        name,
        error.name,
        `${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`,
      )
    })
    await sleep(Math.max(0, next - performance.now()), undefined, { signal: client.signal }).catch(() => {})
  }
}
