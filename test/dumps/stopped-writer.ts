/** A process that writes one dump file and kills itself at a step: `FOLDER REDIS PREFIX FILE STEP`. */
import { pino } from 'pino'
import { Dumps } from '../../src/dumps/dumps.ts'
import { DumpFolder } from '../../src/dumps/folder.ts'
import { Producer } from '../../src/queue/producer.ts'
import { DumpBook, type FrozenFile } from '../../src/store/dumps.ts'
import { keysUnder } from '../../src/store/keys.ts'
import { connectForWork } from '../../src/store/redis.ts'

const [folder = '', url = '', prefix = '', file = '', stop = ''] = process.argv.slice(2)
const keys = keysUnder(prefix)
const redis = connectForWork({ url, prefix })
const dumps = new Dumps({
  book: new DumpBook(redis, keys),
  folder: new DumpFolder(folder),
  producer: new Producer(redis, keys.jobs),
  log: pino({ level: 'silent' }),
  maxBytes: 1e9,
  quietMs: 1e9,
})
await dumps.write(JSON.parse(file) as FrozenFile, (step) => {
  if (step === stop) process.kill(process.pid, 'SIGKILL')
})
process.exit(0)
