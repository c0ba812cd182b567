/**
 * main: HTTP requests over loopback, from a process of its own: in a closed loop, in which every connection asks again as soon as
 * it has its answer, or in an open loop, in which a clock decides. Reads what to do from the file it is given, prints one JSON object.
 */
import { readFileSync } from 'node:fs'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from '../../verification/support/seeded-random.ts'
import { LoadConnection } from './connection.ts'
import { type LoadRequest, type LoadResult, type LoadSpec, NUMBER_MARK, padNumber } from './requests.ts'

/** The connections of an open loop are open by then. */
const CONNECT_MS = 500
const TIMER_RESOLUTION_MS = 2

const spec = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as LoadSpec // written by run.ts
const preparedRequests = readFileSync(spec.asks, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => prepareRequest(JSON.parse(line) as LoadRequest)) // likewise
const { promise: over, resolve: end } = Promise.withResolvers<void>()
const totals = {
  answered: 0,
  units: 0,
  checked: 0,
  wrong: 0,
  rightUnits: 0,
  tried: 0,
  errors: {} as Record<string, number>,
}
const latenciesMs: number[] = []
let measuring = spec.warmupS === 0
let ended = false
let sentCount = 0
let startedAt = performance.now()
/** Of an open loop, in order; in a closed one a request is due whenever a connection is free. */
const arrivals =
  spec.arrivalsPerSecond === undefined ? [] : planArrivals(spec.arrivalsPerSecond, preparedRequests.length)

const target = { port: spec.port, timeoutMs: spec.timeoutS * 1000, pauseMs: spec.pauseMs }
const loadConnections = Array.from(
  { length: spec.connections },
  () => new LoadConnection(target, handleResponse, takeRequest),
)
if (spec.count === undefined) {
  setTimeout(startMeasuring, spec.warmupS * 1000)
  setTimeout(() => end(), (spec.warmupS + spec.seconds) * 1000)
}
if (spec.limitS !== undefined) setTimeout(() => end(), spec.limitS * 1000)
if (arrivals.length > 0) void sendArrivals()
await over
ended = true
const seconds = (performance.now() - startedAt) / 1000
for (const lane of loadConnections) lane.close()
const sorted = Float64Array.from(latenciesMs).sort()
const quantile = (of: number) => sorted[Math.min(sorted.length - 1, Math.ceil(of * sorted.length) - 1)] ?? null
const loadResult: LoadResult = {
  seconds,
  requests: totals.answered,
  allRequests: totals.tried,
  perSecond: totals.answered / seconds,
  unitsPerSecond: totals.units / seconds,
  p50: quantile(0.5),
  p99: quantile(0.99),
  p999: quantile(0.999),
  max: quantile(1),
  checked: totals.checked,
  wrong: totals.wrong,
  rightUnits: totals.rightUnits,
  errors: totals.errors,
  cpuSeconds: getCpuSeconds(),
}
console.log(JSON.stringify(loadResult))

function getCpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

function startMeasuring(): void {
  measuring = true
  startedAt = performance.now()
}

/** Hands each request to a free connection when it is due; if none is free, the next one that is takes it. */
async function sendArrivals(): Promise<void> {
  startedAt = arrivals[0] ?? 0
  while (sentCount < arrivals.length && !ended) {
    const dueInMs = (arrivals[sentCount] ?? 0) - performance.now()
    if (dueInMs <= 0) for (const lane of loadConnections) lane.sendIfIdle()
    // A timer may be late by more than its resolution, and all connections may be busy.
    await (dueInMs > TIMER_RESOLUTION_MS ? sleep(dueInMs - TIMER_RESOLUTION_MS) : setImmediate())
  }
}

/** Independent arrivals, the same in each run: their distances are exponentially distributed. */
function planArrivals(perSecond: number, count: number): number[] {
  const random = new SeededRandom(1)
  let at = performance.now() + CONNECT_MS
  return Array.from({ length: count }, () => {
    at -= (Math.log(1 - random.next()) * 1000) / perSecond
    return at
  })
}

/** What a lane sends next; undefined if there is nothing more, or nothing is due. */
function takeRequest() {
  if (ended || (spec.count !== undefined && sentCount >= spec.count)) return undefined
  const ask = preparedRequests[sentCount % preparedRequests.length]
  if (!ask) return undefined
  if (arrivals.length > 0) {
    const plannedAt = arrivals[sentCount]
    if (plannedAt === undefined || plannedAt > performance.now()) return undefined
    sentCount++
    return { ...ask, plannedAt }
  }
  sentCount++
  if (ask.pieces.length === 1) return ask
  const number = Buffer.from(padNumber((spec.firstNumber ?? 0) + sentCount))
  return { ...ask, pieces: ask.pieces.flatMap((piece, k) => (k === 0 ? [piece] : [number, piece])) }
}

function handleResponse(ask: PreparedRequest, status: number | string, body: Buffer, ms: number): void {
  if (ended) return
  if (measuring) {
    if (typeof status === 'number' && status >= 200 && status < 300) {
      totals.answered++
      totals.units += ask.units
      latenciesMs.push(ms)
      checkScores(ask, body)
    } else totals.errors[status] = (totals.errors[status] ?? 0) + 1
  }
  totals.tried++
  if (spec.count !== undefined && totals.tried >= spec.count) end()
}

/** Every answer of the first two thousand is read, then one of sixteen. */
function checkScores(ask: PreparedRequest, body: Buffer): void {
  const { expect, field } = ask
  if (!expect || (totals.answered > 2000 && totals.answered % 16 !== 0)) return
  const answer: unknown = JSON.parse(body.toString())
  const found: unknown = field === undefined ? answer : Reflect.get(answer as object, field)
  const given: unknown[] = Array.isArray(found) ? found : [found]
  const rightUnits = expect.filter((one, k) => one !== null && isClose(one, given[k])).length
  totals.rightUnits += rightUnits
  totals.checked++
  if (given.length !== expect.length || rightUnits < expect.filter((one) => one !== null).length) totals.wrong++
}

function isClose(one: number, other: unknown): boolean {
  return typeof other === 'number' && Math.abs(one - Math.min(1, Math.max(0, other))) < 1e-9
}

interface PreparedRequest {
  /** Between them stands the number of the request. */
  pieces: Buffer[]
  units: number
  expect?: (number | null)[] | undefined
  field?: string | undefined
}

function prepareRequest({
  method = 'POST',
  path,
  body = '',
  headers = {},
  units = 1,
  expect,
  field,
}: LoadRequest): PreparedRequest {
  const head = [`${method} ${path} HTTP/1.1`, `Host: 127.0.0.1:${spec.port}`, 'Connection: keep-alive']
  if (method !== 'GET') head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
  for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`)
  const bytes = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  const pieces: Buffer[] = []
  let kept = 0
  for (let at = bytes.indexOf(NUMBER_MARK); at >= 0; at = bytes.indexOf(NUMBER_MARK, kept)) {
    pieces.push(bytes.subarray(kept, at))
    kept = at + NUMBER_MARK.length
  }
  pieces.push(bytes.subarray(kept))
  return { pieces, units, expect, field }
}
