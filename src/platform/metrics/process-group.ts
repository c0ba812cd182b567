/**
 * The metrics of all processes of one `npm start`. They share a port, so any of them answers a scrape for all, through
 * their parent. The parent keeps the last counters of each process and still adds them once that process has ended or
 * while it does not answer, so that no counter falls. Counts since the last scrape are lost with a killed process.
 */
import type { ChildProcess } from 'node:child_process'
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import type { Registry } from 'prom-client'

/** A process that is busy for longer is counted with its previous values. */
const MEMBER_TIMEOUT_MS = 3000
/** Longer than the parent waits for its processes. */
const PARENT_TIMEOUT_MS = 5000

/** Of the names in metric-definitions.ts, which would load prom-client. */
const OWN_PREFIX = 'rgs_'

type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

interface Member {
  child: ChildProcess
  /** Counters and histograms of its last reply. */
  counters: Snapshot
}

type Message =
  | { type: 'metrics:scrape'; id: number }
  | { type: 'metrics:scraped'; id: number; text: string }
  | { type: 'metrics:read'; id: number }
  | { type: 'metrics:values'; id: number; snapshot: Snapshot }

/** One end of the channel between a child and its parent. */
type Channel = Pick<NodeJS.Process, 'connected' | 'send'> & {
  on(event: 'message', listener: (message: unknown) => void): unknown
  off(event: 'message', listener: (message: unknown) => void): unknown
}

/** For the parent: `add` each child whose metrics belong to the group. */
export class ProcessGroupMetrics {
  readonly #members = new Set<Member>()
  readonly #pendingReads = new Map<number, (snapshot: Snapshot) => void>()
  /** Counters of the members that have ended, summed up by each scrape. */
  #endedCounters: Snapshot[] = []
  #readCount = 0

  add(child: ChildProcess): void {
    const member: Member = { child, counters: [] }
    this.#members.add(member)
    onMessage(child, (message) => {
      if (message.type === 'metrics:values') {
        member.counters = message.snapshot.filter(({ name, type }) => isCumulative(name, type))
        this.#pendingReads.get(message.id)?.(message.snapshot)
      } else if (message.type === 'metrics:scrape') {
        void this.scrape().then((text) => send(child, { type: 'metrics:scraped', id: message.id, text }))
      }
    })
    child.once('disconnect', () => {
      // Comes after the last message, which 'exit' need not.
      this.#members.delete(member)
      if (member.counters.length > 0) this.#endedCounters.push(member.counters)
    })
  }

  /** Prometheus text of the group. */
  async scrape(): Promise<string> {
    const { AggregatorRegistry } = await import('prom-client') // not needed by a server without Prometheus
    const ended = AggregatorRegistry.aggregate(this.#endedCounters).getMetricsAsArray()
    this.#endedCounters = [ended as Snapshot] // a member that ends from here on is among the current ones
    const current = await Promise.all([...this.#members].map((member) => this.#read(member)))
    return AggregatorRegistry.aggregate([ended, ...current]).metrics()
  }

  async #read(member: Member): Promise<Snapshot> {
    const id = ++this.#readCount
    const { promise, resolve } = Promise.withResolvers<Snapshot>()
    const usePrevious = () => resolve(member.counters)
    this.#pendingReads.set(id, resolve)
    const timer = setTimeout(usePrevious, MEMBER_TIMEOUT_MS)
    member.child.once('disconnect', usePrevious)
    send(member.child, { type: 'metrics:read', id })
    const snapshot = await promise
    clearTimeout(timer)
    member.child.off('disconnect', usePrevious)
    this.#pendingReads.delete(id)
    return snapshot
  }
}

/** For a child: answers its parent's reads of the registry. */
export function joinProcessGroup(registry: Registry, parent: Channel = process): void {
  onMessage(parent, ({ type, id }) => {
    if (type !== 'metrics:read') return
    void registry.getMetricsAsJSON().then((snapshot) => send(parent, { type: 'metrics:values', id, snapshot }))
  })
}

let scrapeCount = 0

/** For a child: Prometheus text of its group. Throws `server_busy` rather than return counters that fall. */
export function scrapeProcessGroup(parent: Channel = process): Promise<string> {
  const id = ++scrapeCount
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const stopListening = onMessage(parent, (message) => {
    if (message.type === 'metrics:scraped' && message.id === id) resolve(message.text)
  })
  const giveUp = () =>
    reject(new ServiceError('server_busy', 'The parent process did not answer in time. Scrape again.'))
  const timer = setTimeout(giveUp, PARENT_TIMEOUT_MS)
  send(parent, { type: 'metrics:scrape', id })
  return promise.finally(() => {
    clearTimeout(timer)
    stopListening()
  })
}

/** Default metrics carry the process ID: they end with their process. */
function isCumulative(name: string, type: unknown): boolean {
  return name.startsWith(OWN_PREFIX) && (type === 'counter' || type === 'histogram')
}

/** Returns a function that stops it. */
function onMessage(channel: Channel, handle: (message: Message) => void): () => void {
  const listener = (message: unknown) => {
    // The channel carries other messages too; those with this prefix are sent below.
    if (hasType(message) && message.type.startsWith('metrics:')) handle(message as Message)
  }
  channel.on('message', listener)
  return () => channel.off('message', listener)
}

function hasType(message: unknown): message is { type: string } {
  return typeof message === 'object' && message !== null && 'type' in message && typeof message.type === 'string'
}

function send(channel: Channel, message: Message): void {
  if (channel.connected) channel.send?.(message, undefined, undefined, () => {}) // the other side may end meanwhile
}
