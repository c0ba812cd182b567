/**
 * Whether there is room to store one more output: each may have 4 MiB, those of one job 256 MiB, and those of all jobs
 * together EVAL_OUTPUTS_MAX_BYTES, all of them compressed. Without room, only the verdict is stored.
 */
import { SharedUsage } from '../../../platform/shared-usage.ts'
import type { GenerationJobRepository } from '../repository.ts'

const MIB = 1024 * 1024
const MAX_OUTPUT_BYTES = 4 * MIB
const MAX_JOB_BYTES = 256 * MIB
/** Reading the sum takes a few thousand commands if the most jobs are stored that may be. */
const USAGE_CACHE_TTL_MS = 5000

export class OutputSpace {
  readonly #jobs: Pick<GenerationJobRepository, 'getOutputBytes'>
  readonly #maxBytes: number
  readonly #usage: SharedUsage

  constructor(jobs: Pick<GenerationJobRepository, 'getOutputBytes' | 'sumOutputBytes'>, maxBytes: number) {
    this.#jobs = jobs
    this.#maxBytes = maxBytes
    this.#usage = new SharedUsage(() => jobs.sumOutputBytes(), USAGE_CACHE_TTL_MS)
  }

  /** Whether the output is to be stored, which then counts. Processes may exceed a limit by what they add at once. */
  async reserve(id: string, bytes: number): Promise<boolean> {
    if (bytes > MAX_OUTPUT_BYTES) return false
    if ((await this.#jobs.getOutputBytes(id)) + bytes > MAX_JOB_BYTES) return false
    return this.#usage.addWithin(bytes, this.#maxBytes)
  }
}
