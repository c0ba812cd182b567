/** Batches: the scored groups of a training step, composed once and kept until they are acknowledged. */
import type { Platform } from '../../platform/platform.ts'
import type { RunsFeature } from '../runs/index.ts'
import { BatchDelivery } from './batch-delivery.ts'
import { BatchStreams } from './batch-stream.ts'
import { BatchRepository } from './repository.ts'

interface BatchesDeps {
  runs: RunsFeature
}

export type BatchesFeature = ReturnType<typeof createBatches>

export function createBatches(platform: Platform, { runs }: BatchesDeps) {
  const batches = new BatchRepository(platform)
  const streams = new BatchStreams(batches, platform.transfers.replies)
  return { delivery: new BatchDelivery({ runs: runs.runs, batches, streams, notifications: platform.notifications }) }
}
