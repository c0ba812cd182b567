/** An actor repeats one activity at a steady pace for the duration of the soak. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../support/seeded-random.ts'
import type { SoakClient } from './soak-client.ts'

export interface Actor {
  name: string
  /** Interval between the starts of two rounds. A round that takes longer is followed by the next one immediately. */
  everyMs: number
  round: (k: number) => Promise<void>
}

export type CreateActor = (client: SoakClient, random: SeededRandom) => Actor

/** Resolves after the client's signal is aborted and the last round ends. Logs a round that throws as unexpected. */
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
