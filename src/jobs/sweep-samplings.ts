/** Begins the lanes of evals and collections again whose jobs were lost, ends what never comes to an end, lets go of models. */
import { addLanes } from '../evals/lanes.ts'
import type { Models } from '../evals/models.ts'
import type { ResultMaker } from '../evals/result-maker.ts'
import type { Spec } from '../evals/spec.ts'
import type { Producer } from '../queue/producer.ts'
import { ACTIVE_MOST_MS, type Samplings } from '../store/samplings.ts'

const EVERY_MS = 10_000

interface Parts {
  samplings: Samplings
  producer: Producer
  models: Models
  results: ResultMaker
}

export function startSamplingSweeper(parts: Parts, onError: (error: unknown) => void): { close(): void } {
  const timer = setInterval(() => void sweepSamplings(parts).catch(onError), EVERY_MS)
  return { close: () => clearInterval(timer) }
}

/** A lane that is at work keeps its job: adding it again changes nothing. */
export async function sweepSamplings({ samplings, producer, models, results }: Parts): Promise<void> {
  const ended = models.ids() // before it is asked who is active: what begins meanwhile is not among them
  for (const { id, since } of await samplings.active()) {
    ended.delete(id)
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
  for (const id of ended) models.close(id)
}
