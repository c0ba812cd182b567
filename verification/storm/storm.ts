/** A storm: clients work on a fleet while things happen to it. Then the ledger is compared with what the server says. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fleet, ProcessKind } from '../support/fleet.ts'
import type { CallResponse } from '../support/http.ts'
import { RetryingClient } from '../support/retrying-client.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { Ledger } from './ledger.ts'

/** What the clients use. */
export interface StormFleet {
  urls: readonly string[]
  /** The folder of dump files, if the load looks at them. */
  dumps?: string
  kills?: Record<ProcessKind, number>
  waitUntilAllReady(): Promise<void>
  /** Stops everything; gives the processes of killed nodes that live on. */
  stop(well: boolean): Promise<number[]>
}

export interface StormContext {
  fleet: StormFleet
  ledger: Ledger
  seed: number
  /** Whether the events are over, so that clients may finish. */
  isOver: () => boolean
  /** Aborted when the storm has ended, well or not. */
  signal: AbortSignal
  /** Retries for as long as the storm lasts. */
  client: RetryingClient
}

/** What clients do, and how they find out in the end what the server has made of it. */
export interface Load {
  /** Before anything happens: the run and its items. */
  prepare?(context: StormContext): Promise<unknown>
  /** Resolves when all clients have finished. */
  work(context: StormContext): Promise<void>
  /** Waits until the server has nothing left to do, and has the ledger check what it says. */
  settle(context: StormContext): Promise<void>
}

export interface Storm {
  fleet: StormFleet
  load: Load
  /** What happens to the fleet, each event in words when it is over. */
  events: AsyncIterable<string>
  seed: number
  tell?: (line: string) => void
}

export interface StormReport {
  seconds: number
  events: number
  kills: Record<ProcessKind, number> | undefined
  entries: [string, string | number][]
  violations: string[]
}

/** Stops the fleet in the end. */
export async function storm({ fleet, load, events, seed, tell = console.log }: Storm): Promise<StormReport> {
  const ledger = new Ledger()
  const started = performance.now()
  const ended = new AbortController()
  const { signal } = ended
  const client = new RetryingClient({
    urls: fleet.urls,
    random: new SeededRandom(seed + 1),
    signal,
    onServerError: (what) => ledger.addViolation(what),
  })
  let isOver = false
  let isSettled = false
  let count = 0
  const context = { fleet, ledger, seed, client, signal, isOver: () => isOver }
  try {
    await load.prepare?.(context)
    const raging = tellAll(events, tell).finally(() => {
      isOver = true
    })
    ;[count] = await Promise.all([raging, load.work(context)])
    await fleet.waitUntilAllReady()
    await load.settle(context)
    isSettled = true
  } finally {
    ended.abort()
    const left = await fleet.stop(isSettled && ledger.violations.length === 0)
    for (const pid of left) ledger.addViolation(`process ${pid} of a killed node lives on`)
  }
  ledger.entries.push(['calls made again', client.retryCount])
  const seconds = Math.round((performance.now() - started) / 1000)
  return { seconds, events: count, kills: fleet.kills, entries: ledger.entries, violations: ledger.violations }
}

async function tellAll(events: AsyncIterable<string>, tell: (line: string) => void): Promise<number> {
  let count = 0
  for await (const what of events) tell(`${String(++count).padStart(3)}. ${what}`)
  return count
}

interface Pace {
  count: number
  pauseMs: readonly [number, number]
  /** Chance that an event follows another at once. */
  burstChance?: number
  /** The events end after so long, with fewer of them. */
  minutes?: number
}

/** Makes one event, and says in words what it was; undefined if nothing was there to do it to. */
export type StormEvent = (done: number, random: SeededRandom) => Promise<string | undefined>

/** Events at random times. Between two, something must have come back, or the clients would only wait. */
export async function* strike(
  fleet: Fleet,
  seed: number,
  { count, pauseMs, burstChance = 0, minutes = Number.POSITIVE_INFINITY }: Pace,
  event: StormEvent,
): AsyncGenerator<string> {
  const random = new SeededRandom(seed)
  const until = Date.now() + minutes * 60_000
  for (let done = 0; done < count && Date.now() < until; ) {
    if (!random.chance(burstChance)) {
      await fleet.waitUntilSomeReady()
      await sleep(random.between(...pauseMs))
    }
    const what = await event(done, random)
    if (what === undefined) await sleep(10)
    else {
      done++
      yield what
    }
  }
}

/** Kills one of these with -9. */
export function killOneOf(fleet: Fleet, kinds: readonly ProcessKind[]): StormEvent {
  return async (_done, random) => {
    const kind = random.pick(kinds)
    return (await fleet.kill(kind, random)) ? `killed: ${kind}` : undefined
  }
}

/** Kills one of these with -9; Redis after a third and after two thirds of `count`. */
export function killWithRedis(fleet: Fleet, kinds: readonly ProcessKind[], count: number): StormEvent {
  const redisAt = new Set([Math.floor(count / 3), Math.floor((2 * count) / 3)])
  const [killRedis, killOther] = [killOneOf(fleet, ['redis']), killOneOf(fleet, kinds)]
  return (done, random) => (redisAt.has(done) ? killRedis : killOther)(done, random)
}

/** Has jobs that failed for good tried again, as an operator would; gives how many there were. */
export async function retryFailedJobs(client: RetryingClient): Promise<number> {
  const { jobs } = (await client.request('GET', '/jobs/failed?limit=1000')).body
  for (const { id } of jobs) await client.request('POST', `/jobs/failed/${encodeURIComponent(id)}/retry`)
  return jobs.length
}

/** All groups that a run keeps. */
export async function listGroups(client: RetryingClient, run: string): Promise<CallResponse['body'][]> {
  const groups: CallResponse['body'][] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await client.request('GET', `/runs/${run}/groups?full=true&limit=200${query}`)
    groups.push(...body.groups)
    cursor = body.next_cursor
  }
  return groups
}
