/**
 * main: a closed loop of HTTP requests over loopback, in a process of its own: every connection asks again as soon as it has
 * its answer. Reads what to do from the file it is given, prints one JSON object.
 */
import { readFileSync } from 'node:fs'
import { type Ask, type Found, type LoadSpec, NUMBER_MARK, placed } from './asks.ts'
import { Lane } from './lane.ts'

const spec = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as LoadSpec // written by run.ts
const asks = readFileSync(spec.asks, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => readyOf(JSON.parse(line) as Ask)) // likewise
const { promise: over, resolve: end } = Promise.withResolvers<void>()
const found = { answered: 0, units: 0, checked: 0, wrong: 0, tried: 0, errors: {} as Record<string, number> }
const times: number[] = []
let measuring = spec.warmupS === 0
let ended = false
let sent = 0
let startedAt = performance.now()

const target = { port: spec.port, timeoutMs: spec.timeoutS * 1000, pauseMs: spec.pauseMs }
const lanes = Array.from({ length: spec.connections }, () => new Lane(target, heard, take))
if (spec.count === undefined) {
  setTimeout(begin, spec.warmupS * 1000)
  setTimeout(() => end(), (spec.warmupS + spec.seconds) * 1000)
}
await over
ended = true
const seconds = (performance.now() - startedAt) / 1000
for (const lane of lanes) lane.close()
const sorted = Float64Array.from(times).sort()
const share = (of: number) => sorted[Math.min(sorted.length - 1, Math.ceil(of * sorted.length) - 1)] ?? null
const printed: Found = {
  seconds,
  requests: found.answered,
  allRequests: found.tried,
  perSecond: found.answered / seconds,
  unitsPerSecond: found.units / seconds,
  p50: share(0.5),
  p99: share(0.99),
  max: share(1),
  checked: found.checked,
  wrong: found.wrong,
  errors: found.errors,
}
console.log(JSON.stringify(printed))

function begin(): void {
  measuring = true
  startedAt = performance.now()
}

/** What a lane sends next; undefined once there is nothing more. */
function take() {
  if (ended || (spec.count !== undefined && sent >= spec.count)) return undefined
  const ask = asks[sent % asks.length]
  if (!ask) return undefined
  sent++
  if (ask.pieces.length === 1) return ask
  const number = Buffer.from(placed((spec.firstNumber ?? 0) + sent))
  return { ...ask, pieces: ask.pieces.flatMap((piece, k) => (k === 0 ? [piece] : [number, piece])) }
}

function heard(ask: Ready, status: number | string, body: Buffer, ms: number): void {
  if (ended) return
  if (measuring) {
    if (typeof status === 'number' && status >= 200 && status < 300) {
      found.answered++
      found.units += ask.units
      times.push(ms)
      check(ask, body)
    } else found.errors[status] = (found.errors[status] ?? 0) + 1
  }
  found.tried++
  if (spec.count !== undefined && found.tried >= spec.count) end()
}

/** Every answer of the first thousand is read, then one of sixteen. */
function check(ask: Ready, body: Buffer): void {
  const { expect, field } = ask
  if (!expect || !field || (found.answered > 1000 && found.answered % 16 !== 0)) return
  const given: unknown = Reflect.get(JSON.parse(body.toString()) as object, field)
  const right = Array.isArray(given) && given.length === expect.length && expect.every((one, k) => near(one, given[k]))
  found.checked++
  if (!right) found.wrong++
}

function near(one: number, other: unknown): boolean {
  return typeof other === 'number' && Math.abs(one - Math.min(1, Math.max(0, other))) < 1e-9
}

interface Ready {
  /** Between them stands the number of the request. */
  pieces: Buffer[]
  units: number
  expect?: number[] | undefined
  field?: string | undefined
}

function readyOf({ method = 'POST', path, body = '', headers = {}, units = 1, expect, field }: Ask): Ready {
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
