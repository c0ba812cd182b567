/** A worker that does nothing but remove the keys of deleted runs: `REDIS_URL PREFIX`. Made to be killed. */
import { createBatchKeys } from '../../../src/features/batches/repository.ts'
import { listEpochPayloads } from '../../../src/features/rollouts/payload-repository.ts'
import { createGroupKeys } from '../../../src/features/rollouts/records.ts'
import { EpochRepository } from '../../../src/features/runs/epochs.ts'
import { removeEpochJob } from '../../../src/features/runs/jobs.ts'
import { startConsumers } from '../../../src/platform/queue/consumer.ts'
import { consumeJob } from '../../../src/platform/queue/job-definition.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { NO_REPLICATION } from '../../../src/platform/redis/replication.ts'

const [, , url = '', prefix = ''] = process.argv
const keys = createRedisKeys(prefix)
const connection = connectForWorkers({ url, prefix })
const redis = connectForWorkers({ url, prefix })
const epochKeyListers = [
  listEpochPayloads({ redis, keys, replication: NO_REPLICATION }),
  createGroupKeys(keys).listEpochKeys,
  createBatchKeys(keys).listEpochKeys,
]
const epochs = new EpochRepository(redis, keys, epochKeyListers)
startConsumers([removeEpochJob], [consumeJob(removeEpochJob, 1, (epoch, { signal }) => epochs.remove(epoch, signal))], {
  connection,
  prefix: keys.queuePrefix,
  lockMs: 1000,
  onError: (error) => console.error(error),
})
