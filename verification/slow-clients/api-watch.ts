/**
 * Watches an API process from outside: its memory, how long `GET /livez` takes, and the memory that it holds for clients. The
 * probe has a thread of its own, since the clients keep this one busy.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { listDescendants, readStatusMb } from '../support/processes.ts'

const POLL_INTERVAL_MS = 50

export interface ApiFigures {
  peakMb: number
  worstLivezMs: number
}

export class ApiWatch {
  readonly #pid: number
  readonly #prober: Worker
  readonly #memoryTimer: NodeJS.Timeout
  #figures: ApiFigures = { peakMb: 0, worstLivezMs: 0 }

  constructor(url: string, serverPid: number) {
    this.#pid = findApiProcess(serverPid)
    this.#memoryTimer = setInterval(() => {
      this.#figures.peakMb = Math.max(this.#figures.peakMb, this.residentMb)
    }, POLL_INTERVAL_MS)
    this.#prober = new Worker(new URL('livez-probe.ts', import.meta.url), { workerData: url })
    this.#prober.on('message', (ms: number) => {
      this.#figures.worstLivezMs = Math.max(this.#figures.worstLivezMs, ms)
    })
  }

  get residentMb(): number {
    return readStatusMb(this.#pid, 'VmRSS')
  }

  /** The figures since the last call, once the probe that is under way has its answer. */
  async takeFigures(): Promise<ApiFigures> {
    await once(this.#prober, 'message')
    const figures = this.#figures
    this.#figures = { peakMb: 0, worstLivezMs: 0 }
    return figures
  }

  async stop(): Promise<void> {
    clearInterval(this.#memoryTimer)
    await this.#prober.terminate()
  }
}

/** A gauge or counter of GET /metrics; 0 if it is not there yet. */
export async function readMetric(url: string, name: string, direction: 'in' | 'out'): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((row) => row.startsWith(`${name}{`) && row.includes(`direction="${direction}"`))
  return Number(line?.split(' ').at(-1) ?? 0)
}

function findApiProcess(serverPid: number): number {
  const api = listDescendants(serverPid).find(({ args }) => /\bapi\.ts\b/.test(args))
  if (!api) throw new Error(`process ${serverPid} has no API process`)
  return api.pid
}
