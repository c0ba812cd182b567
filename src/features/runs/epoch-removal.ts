/** Schedules the removal of the keys of ended epochs: one job per epoch, and a sweep that adds lost jobs again. */
import type { Logger } from 'pino'
import type { Producer } from '../../platform/queue/producer.ts'
import type { EpochRef, EpochRepository } from './epochs.ts'
import { removeEpochJob } from './jobs.ts'
import type { RunRepository } from './repository.ts'

interface EpochRemovalDeps {
  epochs: EpochRepository
  runs: RunRepository
  producer: Producer
  log: Logger
}

export class EpochRemoval {
  readonly #deps: EpochRemovalDeps

  constructor(deps: EpochRemovalDeps) {
    this.#deps = deps
  }

  /**
   * Adds a job that removes the keys. If Redis rejects the job, for example because it is full, this process removes
   * them.
   */
  async schedule(ref: EpochRef): Promise<void> {
    const { epochs, producer, log } = this.#deps
    try {
      await producer.add(removeEpochJob, [buildJob(ref)])
    } catch {
      void epochs
        .remove(ref)
        .catch((err: unknown) =>
          log.warn({ err, run: ref.name }, 'the keys of a deleted run could not be removed; the sweeper retries'),
        )
    }
  }

  /** Adds lost jobs again and unlists names that no run has. */
  async sweep(): Promise<void> {
    const { epochs, runs, producer } = this.#deps
    const sweepRun = async (name: string) => {
      const discarded = await epochs.listDiscarded(name)
      if (discarded.length > 0) await producer.add(removeEpochJob, discarded.map(buildJob))
      else await epochs.unlistUnused(name)
    }
    await Promise.all((await runs.listNames()).map(sweepRun))
  }
}

function buildJob({ name, epoch }: EpochRef): { id: string; data: EpochRef } {
  return { id: `${name}/${epoch}`, data: { name, epoch } }
}
