/** The report of a soak: tables, and what fails it. */
import { type Allowance, assessGrowth } from './growth.ts'
import { LARGEST_PYTHON_WORKER, type Measurements, PYTHON_WORKERS, type Series } from './measurements.ts'
import type { CallLog } from './soak-client.ts'

const MEMORY_ALLOWANCE: Allowance = { flat: 24, hourly: 32 }
/** A short soak ends while processes are still growing to their working size. */
const WARM_UP_S = 20 * 60
const WARM_UP_MEMORY_ALLOWANCE: Allowance = { flat: 96, hourly: 32 }
/** It depends on the answers of the moment. */
const LARGEST_WORKER_MB_ALLOWANCE: Allowance = { flat: 128, hourly: 0 }
/** Slow answers have more of them forked, up to a bound, and none of them lives long. */
const PYTHON_WORKERS_MB_ALLOWANCE: Allowance = { flat: 512, hourly: 0 }
const PYTHON_WORKERS_ALLOWANCE: Allowance = { flat: 48, hourly: 0 }
const FILE_ALLOWANCE: Allowance = { flat: 64, hourly: 0 }
const PROCESS_ALLOWANCE: Allowance = { flat: 8, hourly: 0 }
const KEYS_ALLOWANCE: Allowance = { flat: 100, hourly: 100 }
const LASTING_KB_ALLOWANCE: Allowance = { flat: 512, hourly: 1024 }
const REDIS_MB_ALLOWANCE: Allowance = { flat: 8, hourly: 8 }
/** Slower in the last sixth than in the first: by both, and with so many calls in each. */
const P99_FACTOR = 4
const P99_MARGIN_MS = 1000
const MIN_CALLS_FOR_P99 = 50
const MAX_RETRY_SHARE = 0.01
const MIN_RETRIES = 20

interface SoakReport {
  log: CallLog
  measurements: Measurements
  seconds: number
  /** The server's log at level warn and above. */
  serverLog: string
}

export function writeReport({ log, measurements, seconds, serverLog }: SoakReport): {
  text: string
  failures: string[]
} {
  const failures: string[] = []
  const growth = (title: string, unit: string, series: Series, allowance: (name: string) => Allowance) =>
    describeGrowth({ title, unit, series, allowance, failures })
  const text = [
    `${(seconds / 60).toFixed(1)} minutes, ${log.callCount} calls, ${log.unexpectedCount} unexpected answers, ${log.retryCount} requests to come again`,
    growth('Memory', 'MB', measurements.memoryMb, (name) => memoryAllowance(name, seconds)),
    growth('File descriptors', '', measurements.fileDescriptors, () => FILE_ALLOWANCE),
    growth('Processes', '', measurements.processes, (name) =>
      name === PYTHON_WORKERS ? PYTHON_WORKERS_ALLOWANCE : PROCESS_ALLOWANCE,
    ),
    growth('Memory of Redis', 'MB', measurements.redisMb, (name) =>
      name === 'used_memory' ? { flat: Number.POSITIVE_INFINITY, hourly: 0 } : REDIS_MB_ALLOWANCE,
    ),
    describeKeys(measurements, failures),
    describeLatencies(log, seconds, failures),
    listFaults(log, measurements.restarts, serverLog, failures),
  ].join('\n\n')
  return { text, failures }
}

function memoryAllowance(name: string, seconds: number): Allowance {
  if (name === PYTHON_WORKERS) return PYTHON_WORKERS_MB_ALLOWANCE
  if (name === LARGEST_PYTHON_WORKER) return LARGEST_WORKER_MB_ALLOWANCE
  return seconds < WARM_UP_S ? WARM_UP_MEMORY_ALLOWANCE : MEMORY_ALLOWANCE
}

interface GrowthTable {
  title: string
  unit: string
  series: Series
  allowance: (name: string) => Allowance
  failures: string[]
}

function describeGrowth({ title, unit, series, allowance, failures }: GrowthTable): string {
  const rows = [...series.byName].map(([name, samples]) => {
    const { first, last, grownBy, allowed, fails } = assessGrowth(samples, allowance(name))
    const values = samples.map(({ value }) => value)
    if (fails) failures.push(`${title} of ${name} grew by ${format(grownBy)} ${unit} (allowed: ${format(allowed)})`)
    const allowedText = allowed === Number.POSITIVE_INFINITY ? 'any' : format(allowed)
    return [name, format(first), format(Math.max(...values)), format(last), format(grownBy), allowedText]
  })
  const heading = unit === '' ? title : `${title}, ${unit}`
  return table([heading, 'first', 'most', 'last', 'trend', 'allowed'], rows)
}

function describeKeys({ census, lastingKeys, lastingKb }: Measurements, failures: string[]): string {
  const rows = (census?.patterns ?? []).map((entry) => {
    const keys = assessGrowth(lastingKeys.byName.get(entry.pattern) ?? [], KEYS_ALLOWANCE)
    const kb = assessGrowth(lastingKb.byName.get(entry.pattern) ?? [], LASTING_KB_ALLOWANCE)
    for (const [{ fails, grownBy, allowed }, unit] of [
      [keys, ''],
      [kb, ' KB'],
    ] as const)
      if (fails)
        failures.push(
          `Keys ${entry.pattern} without expiry grew by ${format(grownBy)}${unit} (allowed: ${format(allowed)})`,
        )
    const lasting = [
      String(entry.lasting),
      format(entry.lastingBytes / 1024),
      `${format(keys.grownBy)}, ${format(kb.grownBy)} KB`,
    ]
    const expiring = [String(entry.expiring), format(entry.expiringBytes / 1024), formatSpan(entry.longestTtlS)]
    return [entry.pattern, ...lasting, ...expiring]
  })
  return table(['Keys at the end', 'no expiry', 'KB', 'trend', 'expiring', 'KB', 'longest'], rows)
}

function describeLatencies(log: CallLog, seconds: number, failures: string[]): string {
  const span = seconds / 6
  const rows = log.listKinds().map((kind) => {
    const first = log.summarize(kind, 0, span)
    const last = log.summarize(kind, seconds - span, seconds)
    const isComparable = Math.min(first.count, last.count) >= MIN_CALLS_FOR_P99
    if (isComparable && last.p99 > Math.max(first.p99 * P99_FACTOR, first.p99 + P99_MARGIN_MS))
      failures.push(`${kind}: p99 went from ${format(first.p99)} to ${format(last.p99)} ms`)
    return [kind, ...[first, last].flatMap(({ count, p50, p99 }) => [String(count), format(p50), format(p99)])]
  })
  const minutes = format(span / 60)
  return table([`Milliseconds, first and last ${minutes} minutes`, 'calls', 'p50', 'p99', 'calls', 'p50', 'p99'], rows)
}

function listFaults(log: CallLog, restarts: string[], serverLog: string, failures: string[]): string {
  const unexpected = log.listUnexpected()
  failures.push(...unexpected.map((what) => `Unexpected: ${what}`))
  failures.push(...restarts.map((what) => `Exited by itself and was restarted: ${what}`))
  if (log.retryCount > Math.max(MIN_RETRIES, log.callCount * MAX_RETRY_SHARE))
    failures.push(`${log.retryCount} calls were asked to come again`)
  const messages = countMessages(serverLog).map(([message, count]) => `  ${count} × ${message}`)
  return ['What the server logged at level warn and above:', ...(messages.length > 0 ? messages : ['  nothing'])].join(
    '\n',
  )
}

/** Lines that differ only in IDs and numbers are one message. */
function countMessages(serverLog: string): [string, number][] {
  const counts = new Map<string, number>()
  for (const line of serverLog.split('\n').filter((text) => text.startsWith('{'))) {
    const { level, msg, err } = JSON.parse(line) as { level: number; msg?: string; err?: { message: string } } // pino wrote it
    const text = [level >= 50 ? 'error' : 'warn', ...new Set([msg, err?.message])].filter(Boolean).join(': ')
    const message = text.replace(/\b[\w-]*\d[\w/-]*/g, 'N')
    counts.set(message, (counts.get(message) ?? 0) + 1)
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)
}

function table(head: string[], rows: string[][]): string {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => (row[at] ?? '').length)))
  const line = (row: string[]) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

function format(value: number): string {
  return value.toFixed(Math.abs(value) < 10 && !Number.isInteger(value) ? 1 : 0)
}

function formatSpan(seconds: number): string {
  if (seconds === 0) return '-'
  if (seconds < 120) return `${seconds.toFixed(0)} s`
  return seconds < 2 * 3600 ? `${(seconds / 60).toFixed(0)} min` : `${(seconds / 3600).toFixed(0)} h`
}
