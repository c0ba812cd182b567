/**
 * npm run soak -- [--minutes 60] [--seed N]: steady mixed traffic, hostile answers and broken clients against a server of its own.
 * Prints what it took and held; ends with 1 where something grew, slowed down or answered what it should not.
 */
import { Command, InvalidArgumentError } from 'commander'
import type { CallLog } from './soak/call-log.ts'
import type { Measurements } from './soak/measurements.ts'
import { writeReport } from './soak/report.ts'
import { runSoak } from './soak/run-soak.ts'

const parseMinutes = (text: string) => {
  if (!/^\d{1,5}(\.\d+)?$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('a number of minutes')
  return Number(text)
}
const parseSeed = (text: string) => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number')
  return Number(text)
}
const options = new Command('soak')
  .description('Steady mixed traffic against a server of its own; fails if memory, files, keys or latencies grow.')
  .option('--minutes <n>', 'how long', parseMinutes, 60)
  .option('--seed <n>', 'what is sent', parseSeed, Date.now() % 1_000_000)
  .parse()
  .opts<{ minutes: number; seed: number }>()

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)) // the server ends with us
console.log(`${options.minutes} minutes, seed ${options.seed}`)
const report = await runSoak({ ...options, onProgress: printProgress })
const { text, failures } = writeReport(report)
console.log(`\n${text}\n`)
for (const failure of failures) console.log(`FAILURE ${failure}`)
console.log(failures.length === 0 ? 'Nothing grew.' : `${failures.length} failures (seed ${options.seed}).`)
process.exit(failures.length === 0 ? 0 : 1)

function printProgress(log: CallLog, { memoryMb, census, cpuPercent }: Measurements): void {
  const memory = [...memoryMb.byName]
    .filter(([name]) => !name.startsWith('dashboard'))
    .map(([name, samples]) => `${name} ${samples.at(-1)?.value.toFixed(0)}`)
  const keys = census?.patterns.reduce((sum, { lasting, expiring }) => sum + lasting + expiring, 0)
  console.log(
    `minute ${(log.seconds / 60).toFixed(1)}: ${log.callCount} calls, ${log.unexpectedCount} unexpected, CPU ${cpuPercent.toFixed(0)} %; MB: ${memory.join(', ')}; ${keys} keys`,
  )
}
