/** Runs the load generator beside what it measures, and says what else the machine did meanwhile. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ARTIFACTS, busySeconds, LOAD_CORE, pinned, secondsOf, treeOf } from '../machine.ts'
import type { Ask, Found, LoadSpec } from './asks.ts'

const SCRIPT = join(import.meta.dirname, 'load.ts')

export interface Load extends Partial<Omit<LoadSpec, 'port' | 'asks'>> {
  port: number
  asks: string
  /** The process whose children and itself are measured. */
  server: number
  /** Not on a core of its own: what is measured uses all of them. */
  anywhere?: boolean
}

export interface Measured extends Found {
  /** Cores that the server used, and all else but the load generator. */
  serverCores: number
  /** Processor time of all the server's processes for one request: holds also while the machine is busy with other things. */
  microsecondsEach: number
  othersCores: number
  memoryMb: number
}

/** Writes the asks down once, for as many runs as there are. */
export function writeAsks(name: string, asks: Ask[]): string {
  const folder = join(ARTIFACTS, 'asks')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name}.jsonl`)
  writeFileSync(path, asks.map((ask) => JSON.stringify(ask)).join('\n'))
  return path
}

export async function load({ server, anywhere = false, ...given }: Load): Promise<Measured> {
  const spec: LoadSpec = { connections: 64, pauseMs: 0, warmupS: 2, seconds: 5, timeoutS: 30, ...given }
  const path = join(ARTIFACTS, `load-${process.pid}.json`)
  writeFileSync(path, JSON.stringify(spec))
  const before = { busy: busySeconds(), tree: await secondsOf(server), at: performance.now() }
  const [command, ...args] = pinned(anywhere ? undefined : LOAD_CORE, [process.execPath, SCRIPT, path])
  const child = spawn(command ?? '', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('close', () => resolve())
  let own = 0
  const watch = setInterval(() => void secondsOf(child.pid ?? 0).then((s) => (own = Math.max(own, s))), 500)
  await promise
  clearInterval(watch)
  const seconds = (performance.now() - before.at) / 1000
  const served = (await secondsOf(server)) - before.tree
  const busy = busySeconds() - before.busy
  const { memoryMb } = await treeOf(server)
  const found = JSON.parse(text) as Found // as load.ts prints it
  return {
    ...found,
    serverCores: served / seconds,
    microsecondsEach: (served * 1e6) / found.allRequests,
    othersCores: Math.max(0, (busy - served - own) / seconds),
    memoryMb,
  }
}
