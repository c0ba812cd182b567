/** Runs the load generator beside what it measures, and says what else the machine did meanwhile. */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import {
  BENCH_ARTIFACTS_DIR,
  getBusyCpuSeconds,
  getTreeCpuSeconds,
  getTreeUsage,
  LOAD_CORE,
  pinCommand,
} from '../machine.ts'
import type { LoadRequest, LoadResult, LoadSpec } from './requests.ts'

const LOAD_SCRIPT = join(import.meta.dirname, 'load.ts')

export interface LoadParams extends Partial<Omit<LoadSpec, 'port' | 'asks'>> {
  port: number
  asks: string
  /** The process whose children and itself are measured. */
  server: number
  /** Not on a core of its own: what is measured uses all of them. */
  anywhere?: boolean
}

export interface LoadMeasurement extends LoadResult {
  /** Cores that the server used, and all else but the load generator. */
  serverCores: number
  /** Processor time of all the server's processes for one request: holds also while the machine is busy with other things. */
  microsecondsEach: number
  othersCores: number
  memoryMb: number
}

/** Writes the asks down once, for as many runs as there are. */
export function writeLoadRequests(name: string, asks: LoadRequest[]): string {
  const folder = join(BENCH_ARTIFACTS_DIR, 'asks')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name}.jsonl`)
  writeLines(path, asks)
  return path
}

/** One JSON value a line. The whole may be longer than a string can be. */
export function writeLines(path: string, values: object[]): void {
  const file = openSync(path, 'w')
  for (const value of values) writeSync(file, `${JSON.stringify(value)}\n`)
  closeSync(file)
}

export async function runLoad({ server, anywhere = false, ...given }: LoadParams): Promise<LoadMeasurement> {
  const spec: LoadSpec = { connections: 64, pauseMs: 0, warmupS: 2, seconds: 5, timeoutS: 30, ...given }
  const path = join(BENCH_ARTIFACTS_DIR, `load-${process.pid}.json`)
  writeFileSync(path, JSON.stringify(spec))
  const before = { busy: getBusyCpuSeconds(), tree: await getTreeCpuSeconds(server), at: performance.now() }
  const [command, ...args] = pinCommand(anywhere ? undefined : LOAD_CORE, [process.execPath, LOAD_SCRIPT, path])
  const child = spawn(command ?? '', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('close', () => resolve())
  await promise
  const seconds = (performance.now() - before.at) / 1000
  const served = (await getTreeCpuSeconds(server)) - before.tree
  const busy = getBusyCpuSeconds() - before.busy
  const { memoryMb } = await getTreeUsage(server)
  const found = JSON.parse(text) as LoadResult // as load.ts prints it
  return {
    ...found,
    serverCores: served / seconds,
    microsecondsEach: (served * 1e6) / found.allRequests,
    othersCores: Math.max(0, (busy - served - found.cpuSeconds) / seconds),
    memoryMb,
  }
}
