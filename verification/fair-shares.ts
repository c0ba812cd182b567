/**
 * Measures how long a new item takes while data sets are read at full speed, as a multiple of how long it takes alone. The
 * readers first read one data set, then one each. Rounds with and without readers alternate, because machines vary.
 */
import { parseArgs } from 'node:util'
import { withScriptServer } from './support/with-server.ts'

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    readers: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '8' },
  },
})
const MAX_RATIO = 3
const READERS = Number(values.readers)
const ROUND_MS = Number(values.seconds) * 1000
/** Between two items, so that the items themselves are no load. */
const PAUSE_MS = 50
/** Rows that no reader comes to the end of. */
const ROWS = 1_000_000
const FIRST_SEED = Math.floor(Math.random() * 2 ** 28)

let nextSeed = FIRST_SEED

const isOk = await withScriptServer(values.url, async (url) => {
  await timeItems(url, ROUND_MS) // warms the server up
  let ok = true
  for (const [name, seedOf] of [
    ['one data set', () => 1],
    [`${READERS} data sets`, (reader: number) => reader],
  ] as const) {
    const alone: number[] = []
    const beside: number[] = []
    let rows = 0
    for (let round = 0; round < Number(values.rounds); round++) {
      alone.push(...(await timeItems(url, ROUND_MS)))
      const stop = new AbortController()
      const base = FIRST_SEED + 1000 * round // rows that no earlier round has made
      const readers = Array.from({ length: READERS }, (_, k) => readRows(url, base + seedOf(k), stop.signal))
      beside.push(...(await timeItems(url, ROUND_MS)))
      stop.abort()
      for (const read of await Promise.all(readers)) rows += read
    }
    const ratio = median(beside) / median(alone)
    ok &&= ratio <= MAX_RATIO
    const rate = Math.round((rows * 1000) / (Number(values.rounds) * ROUND_MS))
    const times = `${describe(beside)} beside ${READERS} readers of ${name} (${rate} rows/s), ${describe(alone)} alone`
    console.log(`${ratio <= MAX_RATIO ? 'ok  ' : 'FAIL'} ${ratio.toFixed(2)} times: ${times}`)
  }
  return ok
})
if (!isOk) process.exitCode = 1

/** The times of new items, one after another, in milliseconds. */
async function timeItems(url: string, forMs: number): Promise<number[]> {
  const times: number[] = []
  for (const startedAt = performance.now(); performance.now() - startedAt < forMs; ) {
    const sentAt = performance.now()
    const response = await fetch(`${url}/items`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ task: 'chain_sum', seed: nextSeed++ }),
    })
    await response.text()
    if (response.status !== 200) throw new Error(`POST /items: ${response.status}`)
    times.push(performance.now() - sentAt)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  return times
}

/** Reads a data set of all tasks as fast as it comes. Returns how many rows came. */
async function readRows(url: string, seed: number, signal: AbortSignal): Promise<number> {
  let rows = 0
  try {
    const { body } = await fetch(`${url}/dataset.jsonl?count=${ROWS}&seed=${seed}`, { signal })
    for await (const chunk of body ?? []) for (const byte of chunk) if (byte === 10) rows++
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return rows
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
}

function describe(times: number[]): string {
  return `${median(times).toFixed(1)} ms (at most ${Math.max(...times).toFixed(0)}, n = ${times.length})`
}
