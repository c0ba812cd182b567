/** What is measured: our server, started as a user would, and plain Python servers beside it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getFreePort, startChildServer } from '../src/main/bootstrap/child-server.ts'
import { BASELINES_DIR, PYTHON_ENV, prepareNemoGymPython } from './environment.ts'
import { BENCH_ARTIFACTS_DIR, pinCommand, pinProcessTree, SERVER_CORE } from './machine.ts'

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 10_000

export interface RunningProcess {
  port: number
  pid: number
  stop(): Promise<unknown>
}

export interface OurServer extends RunningProcess {
  url: string
  dataDir: string
}

/** With all its processes on one core, or where the kernel puts them. */
export async function startOurServer(env: Record<string, string> = {}, { onOneCore = false } = {}): Promise<OurServer> {
  const server = await startChildServer({ LOG_LEVEL: 'warn', ...env })
  if (onOneCore) await pinProcessTree(server.pid, SERVER_CORE)
  const { url, pid, dataDir } = server
  return { url, port: Number(new URL(url).port), pid, dataDir, stop: () => server.stop() }
}

/** A module of baselines/ under uvicorn, one process on one core. */
export async function startBaselineServer(python: string, module: string): Promise<RunningProcess> {
  const port = await getFreePort()
  const args = ['--host', '127.0.0.1', '--port', String(port), '--no-access-log', '--log-level', 'warning']
  const app = ['-m', 'uvicorn', `${module}:app`, '--app-dir', BASELINES_DIR, '--loop', 'uvloop', '--http', 'httptools']
  return startProcess(pinCommand(SERVER_CORE, [python, ...app, ...args]), port, '/health', PYTHON_ENV)
}

/** NeMo Gym's resources server for the library, of its package. */
export async function startNemoGymServer(): Promise<RunningProcess> {
  const python = await prepareNemoGymPython()
  const port = await getFreePort()
  const script = join(BASELINES_DIR, 'nemo_gym_server.py')
  return startProcess([python, script, String(port)], port, '/openapi.json', PYTHON_ENV)
}

/** Ready once `path` answers well. */
export async function startProcess(
  [command = '', ...args]: string[],
  port: number,
  path: string,
  env: NodeJS.ProcessEnv,
): Promise<RunningProcess> {
  const child = spawn(command, args, { env, cwd: BENCH_ARTIFACTS_DIR, stdio: ['ignore', 'inherit', 'inherit'] })
  for (const until = Date.now() + START_TIMEOUT_MS; Date.now() < until; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended while it started`)
    const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined)
    if (answer?.ok) return { port, pid: child.pid ?? 0, stop: () => stopProcess(child) }
  }
  await stopProcess(child)
  throw new Error(`${args.join(' ')} was not up within ${START_TIMEOUT_MS / 1000} s`)
}

async function stopProcess(child: ChildProcess): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await promise
  clearTimeout(timer)
}

/** One call to our server; throws where it is refused. */
export async function callServer(
  server: OurServer,
  method: string,
  path: string,
  body?: unknown,
  headers = {},
): Promise<unknown> {
  const response = await fetch(server.url + path, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`)
  return text === '' ? undefined : JSON.parse(text)
}

const STALL_TIMEOUT_MS = 120_000

/** Waits until a run has scored what was posted. Throws if groups fail, or nothing moves for two minutes. */
export async function waitUntilScored(server: OurServer, run: string, groups: number): Promise<Record<string, number>> {
  let [last, movedAt] = [-1, performance.now()]
  for (;;) {
    const { progress } = (await callServer(server, 'GET', `/runs/${run}`)) as { progress: Record<string, number> } // as documented
    const { scored_groups: scored = 0, failed_groups: failed = 0, queued_groups: queued = 0 } = progress
    if (failed > 0) throw new Error(`${failed} groups of ${run} failed`)
    if (queued === 0 && scored >= groups) return progress
    if (scored !== last) [last, movedAt] = [scored, performance.now()]
    if (performance.now() - movedAt > STALL_TIMEOUT_MS)
      throw new Error(`${run} stands still: ${JSON.stringify(progress)}`)
    await sleep(50)
  }
}
