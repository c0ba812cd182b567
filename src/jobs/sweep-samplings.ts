/** Begins the lanes of evals and collections again whose jobs were lost, and ends what is never coming to an end. */
import { addLanes } from '../evals/lanes.ts'
import type { ResultMaker } from '../evals/result-maker.ts'
import type { Spec } from '../evals/spec.ts'
import type { Producer } from '../queue/producer.ts'
import { ACTIVE_MOST_MS, type Samplings } from '../store/samplings.ts'

const EVERY_MS = 10_000

interface Parts {
  samplings: Samplings
  producer: Producer
  results: ResultMaker
}

export function startSamplingSweeper(parts: Parts, onError: (error: unknown) => void): { close(): void } {
  const timer = setInterval(() => void sweepSamplings(parts).catch(onError), EVERY_MS)
  return { close: () => clearInterval(timer) }
}

/** A lane that is at work keeps its job: adding it again changes nothing. */
export async function sweepSamplings({ samplings, producer, results }: Parts): Promise<void> {
  for (const { id, since } of await samplings.active()) {
    const found = await samplings.find(id)
    const age = Date.now() - since
    if (!found || (found.status !== 'queued' && found.status !== 'running')) {
      if (age > EVERY_MS) await samplings.deactivate(id)
    } else if (age > ACTIVE_MOST_MS) {
      await results.end(id, 'failed', 'It did not come to an end in time')
    } else {
      const { model } = found.spec as Spec // as its maker wrote it
      if (model) await addLanes(producer, id, model.concurrency, found.total)
    }
  }
}
