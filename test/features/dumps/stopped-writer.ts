/** A process that writes one dump file and kills itself at a step: `FOLDER REDIS PREFIX FILE STEP`. */
import { pino } from 'pino'
import { DumpFolder } from '../../../src/features/dumps/dump-folder.ts'
import { Dumps } from '../../../src/features/dumps/dumps.ts'
import { DumpRepository, type SealedFile } from '../../../src/features/dumps/repository.ts'
import { Producer } from '../../../src/platform/queue/queues.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'
import { createRedisKeys } from '../../../src/platform/redis/keys.ts'
import { NO_REPLICATION } from '../../../src/platform/redis/replication.ts'

const [folder = '', url = '', prefix = '', file = '', stop = ''] = process.argv.slice(2)
const keys = createRedisKeys(prefix)
const redis = connectForWorkers({ url, prefix })
const dumps = new Dumps({
  repository: new DumpRepository(redis, keys),
  folder: new DumpFolder(folder),
  producer: new Producer(redis, keys.queuePrefix),
  replication: NO_REPLICATION,
  log: pino({ level: 'silent' }),
  maxBytes: 1e9,
  idleFlushMs: 1e9,
})
await dumps.writeFile(JSON.parse(file) as SealedFile, (step) => {
  if (step === stop) process.kill(process.pid, 'SIGKILL')
})
process.exit(0)
