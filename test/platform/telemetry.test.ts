import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterEach, expect, it, vi } from 'vitest'
import { readConfig } from '../../src/platform/environment.ts'
import { createProcessIdentity } from '../../src/platform/process-state.ts'
import { startTelemetry } from '../../src/platform/telemetry/telemetry.ts'
import { openWorld, until } from '../world.ts'

interface Collector {
  url: string
  requests: { path: string; type: string | undefined; body: Buffer }[]
}

interface Attribute {
  key: string
  value: Record<string, unknown>
}

interface OtlpSpan {
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  status: { code: number }
  attributes: Attribute[]
}

const servers: Server[] = []

afterEach(() => {
  vi.unstubAllEnvs()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A receiver of OTLP over HTTP, or one that never answers. */
async function openCollector({ answers = true } = {}): Promise<Collector> {
  const requests: Collector['requests'] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    requests.push({ path: request.url ?? '', type: request.headers['content-type'], body: Buffer.concat(chunks) })
    if (answers) response.writeHead(200, { 'content-type': request.headers['content-type'] }).end('{}')
  })
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** What a shutdown flushes may come after it, which waits for 2 s only. After 5 s it would come without one. */
function untilReceived({ requests }: Collector, texts: string[]): Promise<unknown> {
  return until(
    async () => requests.map(({ body }) => String(body)).join(),
    (received) => texts.every((text) => received.includes(text)),
    4000,
  )
}

async function start(variables: Record<string, string>, onLog: (line: string) => void = () => {}) {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  const log = pino({ level: 'warn' }, { write: onLog })
  const telemetry = await startTelemetry(readConfig(), createProcessIdentity('api'), log)
  if (!telemetry) throw new Error('OpenTelemetry is off')
  return telemetry
}

const attributeOf = (attributes: Attribute[], key: string) =>
  Object.values(attributes.find((one) => one.key === key)?.value ?? {})[0]

it('a trace goes from the trainer through the API, the queue and the worker into Python', async () => {
  const collector = await openCollector()
  const telemetry = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  })
  const world = await openWorld({ worker: true, tracing: telemetry.tracing, SCORE_DEADLINE_MS: 20_000 })
  await world.call('PUT', '/runs/traced', {})
  const item = (await world.call('POST', '/items', { task: 'simple_integration', seed: 7 })).body.items[0]
  const [trace, trainer] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const completion = '<answer>asinh(x)</answer>' // a name that is left to sympy
  const group = { run: 'traced', item_id: item.id, rollouts: [{ completion }, { completion }] }
  const posted = await world.call('POST', '/rollouts', group, {
    traceparent: `00-${trace}-${trainer}-01`,
    prefer: 'wait=60',
  })
  expect(posted.body.status).toBe('scored')
  const unsampled = 'ffffffffffffffffffffffffffffffff'
  const score = { item_id: item.id, completion }
  await world.call('POST', '/score', score, { traceparent: `00-${unsampled}-${trainer}-00` })
  await world.call('POST', '/runs/none/samples', {}, { traceparent: 'not a traceparent' })
  await world.stopWorkers() // the job ends with its span
  await telemetry.close()
  const names = ['POST /rollouts', 'process score-group', 'score', 'score in Python']
  await untilReceived(collector, [...names, 'POST /runs/:run/samples'])
  await world.close()

  expect(new Set(collector.requests.map(({ path }) => path))).toEqual(new Set(['/v1/traces']))
  const resources = collector.requests.flatMap(({ body }) => JSON.parse(body.toString()).resourceSpans)
  const spans: OtlpSpan[] = resources.flatMap(({ scopeSpans }) => scopeSpans[0].spans)
  expect(spans.filter(({ traceId }) => traceId === unsampled)).toEqual([])
  const traced = spans.filter(({ traceId }) => traceId === trace)
  const named = (name: string) => traced.find((span) => span.name === name)
  const [server, job, grading, python] = names.map(named)
  expect(new Set(traced.map(({ name }) => name))).toEqual(new Set(names)) // the audit of the group is scored in Python, too
  expect([server, job, grading, python].map((span) => span?.parentSpanId)).toEqual([
    trainer,
    server?.spanId,
    job?.spanId,
    grading?.spanId,
  ])
  expect([server?.kind, job?.kind]).toEqual([2, 5]) // SERVER, CONSUMER
  const attributes = server?.attributes ?? []
  expect(attributeOf(attributes, 'http.request.method')).toBe('POST')
  expect(attributeOf(attributes, 'http.route')).toBe('/rollouts')
  expect(attributeOf(attributes, 'http.response.status_code')).toBe(200)
  expect(attributeOf(attributes, 'rgs.run')).toBe('traced')
  const failed = spans.find(({ name }) => name === 'POST /runs/:run/samples')
  expect(failed?.parentSpanId ?? '').toBe('')
  expect(attributeOf(failed?.attributes ?? [], 'http.response.status_code')).toBe(400)
  const about: Attribute[] = resources[0].resource.attributes
  expect(attributeOf(about, 'service.name')).toBe('reasoning-gym-server')
  expect(attributeOf(about, 'service.instance.id')).toBe(createProcessIdentity('api').process)
  expect(attributeOf(about, 'deployment.environment.name')).toBe('test')
})

it.each([
  ['refuses connections', 'refuses'],
  ['never answers', 'hangs'],
])('a collector that %s delays neither requests nor the shutdown', async (_title, kind) => {
  const url = kind === 'hangs' ? (await openCollector({ answers: false })).url : 'http://127.0.0.1:9'
  const timeout = kind === 'hangs' ? '10000' : '200'
  const lines: string[] = []
  const telemetry = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: timeout }, (line) =>
    lines.push(line),
  )
  const world = await openWorld({ tracing: telemetry.tracing })
  for (let k = 0; k < 20; k++) {
    const { status } = await world.call('GET', '/livez')
    expect(status).toBe(200)
  }
  const begun = performance.now()
  await telemetry.close()
  expect(performance.now() - begun).toBeLessThan(9000) // it flushes for 2 s, and the collector would take 10
  await world.close()
  expect(lines.join('')).toContain('OpenTelemetry could not export')
})

it('protobuf is the default, and traces can have a URL of their own', async () => {
  const collector = await openCollector()
  const telemetry = await start({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/own/path` })
  const span = { kind: 'server', attributes: { 'rgs.run': 'of protobuf' } } as const
  const failing = telemetry.tracing.span('fails', span, async () => {
    expect(telemetry.tracing.getTraceparent()).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    throw new Error('as it should')
  })
  await expect(failing).rejects.toThrow('as it should')
  await telemetry.close()
  await untilReceived(collector, ['of protobuf'])
  expect(collector.requests.map(({ path, type }) => [path, type])).toEqual([['/own/path', 'application/x-protobuf']])
  expect(collector.requests[0]?.body.includes('of protobuf')).toBe(true)
})

it('without its variables, OpenTelemetry is not even loaded', async () => {
  const log = pino({ level: 'silent' })
  const isOn = async (variables: Record<string, string>) =>
    (await startTelemetry(readConfig(variables), createProcessIdentity('api'), log)) !== undefined
  expect(await isOn({})).toBe(false)
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318'
  expect(await isOn({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBe(false)
  expect(await isOn({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })).toBe(false)
  const LOADED = /^import (?!type)[^'"]*?from '(?:@opentelemetry\/|[^']*\/opentelemetry\.ts')/m
  const loading = globSync('{src,routes,packages/*/src}/**/*.ts').filter((file) =>
    LOADED.test(readFileSync(file, 'utf8')),
  )
  expect(loading).toEqual(['src/platform/telemetry/opentelemetry.ts'])
})
