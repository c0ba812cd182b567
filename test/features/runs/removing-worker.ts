/** A worker that does nothing but remove the keys of deleted runs, and is killed after some groups: `REDIS_URL PREFIX GROUPS`. */
import { createBatchKeys } from '../../../src/features/batches/repository.ts'
import { createGroupKeys } from '../../../src/features/rollouts/records.ts'
import { EpochRepository } from '../../../src/features/runs/epochs.ts'
import { removeEpochJob } from '../../../src/features/runs/jobs.ts'
import { startConsumers } from '../../../src/platform/queue/consumer.ts'
import { consumeJob } from '../../../src/platform/queue/job-definition.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'

const [, , url = '', prefix = '', groups = ''] = process.argv
const keys = createRedisKeys(prefix)
const connection = connectForWorkers({ url, prefix })
const redis = connectForWorkers({ url, prefix })
let left = Number(groups)
const epochKeyListers = [
  (name: string, epoch: number) => {
    const listed = createGroupKeys(keys).listEpochKeys(name, epoch)
    const indexes = listed.indexes?.map(({ index, listKeys }) => ({
      index,
      listKeys: (id: string) => {
        if (left-- === 0) process.kill(process.pid, 'SIGKILL')
        return listKeys(id)
      },
    }))
    return { ...listed, ...(indexes && { indexes }) }
  },
  createBatchKeys(keys).listEpochKeys,
]
const epochs = new EpochRepository(redis, keys, epochKeyListers)
startConsumers([removeEpochJob], [consumeJob(removeEpochJob, 1, (epoch, { signal }) => epochs.remove(epoch, signal))], {
  connection,
  prefix: keys.queuePrefix,
  lockMs: 1000,
  onError: (error) => console.error(error),
})
