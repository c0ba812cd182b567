/** A Redis whose servers change their parts while a run trains on it. */

import type { FleetRedis } from '../chaos/fleet.ts'
import type { SeededRandom } from '../chaos/seeded-random.ts'
import { CHAOS_RUN } from '../chaos/simulated-trainer.ts'

/** The hash tags of the keys that training keeps busy: the run's and the job queues'. */
export const HOT_TAGS = [`rgs:run:${CHAOS_RUN}`, 'rgs:jobs'] as const

export interface TopologyCase {
  redis: FleetRedis
  /** Makes one change under load, and tells what it was when it is over. */
  change: (random: SeededRandom) => Promise<string>
}
