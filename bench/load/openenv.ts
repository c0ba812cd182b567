/**
 * Sockets of OpenEnv clients: opens them, plays one-step episodes on all of them at once, and prints what came of it as JSON,
 * after a line of its own once all are open.
 *   node bench/load/openenv.ts SPEC.json
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export interface OpenenvSpec {
  url: string
  sockets: number
  /** Sockets that connect at once. */
  connecting: number
  /** Episodes that each socket plays. */
  episodes: number
  /** What is asked and answered, in turn; with what it must earn. */
  asks: { reset: object; step: object; reward: number }[]
  /** Milliseconds that all stay open afterwards. */
  idleMs: number
}

export interface OpenenvResult {
  connectSeconds: number
  playSeconds: number
  episodes: number
  wrong: number
  errors: Record<string, number>
  /** Milliseconds from the step to its reward. */
  p50: number
  p99: number
}

/** As long as OpenEnv's client waits. */
const CONNECT_TIMEOUT_MS = 10_000
const MESSAGE_TIMEOUT_MS = 60_000

interface Frame {
  type: string
  data: { reward?: number | null; message?: string; code?: string }
}

class Client {
  readonly socket: WebSocket
  #resolve: ((frame: Frame) => void) | undefined
  #reject: ((error: Error) => void) | undefined

  constructor(url: string) {
    this.socket = new WebSocket(url)
    this.socket.addEventListener('message', ({ data }) => this.#resolve?.(JSON.parse(String(data)) as Frame))
    this.socket.addEventListener('close', ({ code }) => this.#reject?.(new Error(`closed with ${code}`)))
  }

  opened(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(new Error('not connected in 10 s')), CONNECT_TIMEOUT_MS)
    this.socket.addEventListener('open', () => resolve(), { once: true })
    this.socket.addEventListener('error', () => reject(new Error('connection refused or ended')), { once: true })
    return promise.finally(() => clearTimeout(timer))
  }

  async ask(type: string, data: object): Promise<Frame> {
    const { promise, resolve, reject } = Promise.withResolvers<Frame>()
    this.#resolve = resolve
    this.#reject = reject
    const timer = setTimeout(() => reject(new Error('no answer in 60 s')), MESSAGE_TIMEOUT_MS)
    try {
      this.socket.send(JSON.stringify({ type, data }))
      const frame = await promise
      if (frame.type === 'error') throw new Error(`${frame.data.code}: ${frame.data.message}`)
      return frame
    } finally {
      clearTimeout(timer)
    }
  }
}

const spec = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as OpenenvSpec
const errors: Record<string, number> = {}
const noteError = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  errors[message] = (errors[message] ?? 0) + 1
}

const startedAt = performance.now()
const clients = await connectAll()
const connectedAt = performance.now()
process.stdout.write('open\n')
const latencies: number[] = []
let wrong = 0
await Promise.all(clients.map((client, k) => play(client, k).catch(noteError)))
const playedAt = performance.now()
await sleep(spec.idleMs)
const closed = clients.filter(({ socket }) => socket.readyState !== WebSocket.OPEN).length
if (closed > 0) errors['closed while idle'] = closed
latencies.sort((a, b) => a - b)
const result: OpenenvResult = {
  connectSeconds: (connectedAt - startedAt) / 1000,
  playSeconds: (playedAt - connectedAt) / 1000,
  episodes: latencies.length,
  wrong,
  errors,
  p50: latencies[Math.floor(latencies.length / 2)] ?? Number.NaN,
  p99: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
}
process.stdout.write(JSON.stringify(result), () => process.exit(0))

async function connectAll(): Promise<Client[]> {
  const connected: Client[] = []
  let next = 0
  const connectSome = async () => {
    while (next++ < spec.sockets) {
      const client = new Client(spec.url)
      await client.opened().then(() => connected.push(client), noteError)
    }
  }
  await Promise.all(Array.from({ length: spec.connecting }, connectSome))
  return connected
}

async function play(client: Client, k: number): Promise<void> {
  for (let episode = 0; episode < spec.episodes; episode++) {
    const ask = spec.asks[(k + episode) % spec.asks.length]
    if (!ask) return
    await client.ask('reset', ask.reset)
    const askedAt = performance.now()
    const { data } = await client.ask('step', ask.step)
    latencies.push(performance.now() - askedAt)
    if (data.reward !== ask.reward) wrong++
  }
}
