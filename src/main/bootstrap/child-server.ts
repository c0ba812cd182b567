/** A server as a child of this process, started as a user would, and stopped again; if this process dies, it ends too. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type BoundSocket, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  buildChildEnvironment,
  createCompileCacheEnv,
  createInheritedSocketsEnv,
  getModulePath,
} from '../../platform/installation.ts'
import { poll } from '../../platform/retry.ts'
import { TEMPORARY_DATA } from './data-folder.ts'
import { StartupError } from './startup-report.ts'

const START_TIMEOUT_MS = 300_000 // the first start prepares the Python environment

export interface ChildServer {
  url: string
  pid: number
  dataDir: string
  /** Output of the server so far. */
  output(): string
  stop(): Promise<number | null>
  /** Its exit code. */
  ended: Promise<number | null>
}

interface ChildServerOptions {
  signal?: AbortSignal | undefined
  /** The server listens on this socket, which outlives it. */
  socket?: BoundSocket
}

/**
 * Starts `src/main/serve.ts` and waits until it is ready. Unless `env` sets them, it uses a free port and a temporary data
 * folder. Throws the output of the server if it exits or is not ready in time.
 */
export async function startChildServer(
  env: Record<string, string> = {},
  { signal, socket }: ChildServerOptions = {},
): Promise<ChildServer> {
  const port = env.PORT ?? String(socket?.address().port ?? (await getFreePort()))
  const sockets = socket ? [socket.fd()] : []
  const ownFolder = env.DATA_DIR === undefined ? mkdtempSync(join(tmpdir(), 'rgs-data-')) : undefined
  const dataDir = env.DATA_DIR ?? ownFolder ?? ''
  const args = [getModulePath(join(import.meta.dirname, '..'), 'serve'), ...(ownFolder ? [TEMPORARY_DATA] : [])]
  const child = spawn(process.execPath, args, {
    env: buildChildEnvironment({
      ...createCompileCacheEnv(),
      ...createInheritedSocketsEnv(sockets.length),
      ...env,
      PORT: port,
      DATA_DIR: dataDir,
    }),
    stdio: ['ignore', 'pipe', 'pipe', ...sockets, 'ipc'], // the channel closes when this process ends
    detached: true, // Ctrl-C reaches this process only, which then stops the server
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  let isListening = false // until then, another server that took the port would answer
  child.once('message', () => {
    isListening = true
  })
  const { promise: ended, resolve } = Promise.withResolvers<number | null>()
  child.once('exit', resolve)
  const stop = async () => {
    child.kill('SIGTERM')
    const code = await ended
    if (ownFolder) rmSync(ownFolder, { recursive: true, force: true })
    return code
  }
  const url = `http://127.0.0.1:${port}`
  const checkReady = async () => {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new StartupError(`The server exited during startup:\n${output}`)
    return isListening && (await isReady(url))
      ? { url, pid: child.pid ?? 0, dataDir, output: () => output, stop, ended }
      : undefined
  }
  try {
    const server = await poll(checkReady, { everyMs: 50, timeoutMs: START_TIMEOUT_MS, signal })
    if (server) return server
    signal?.throwIfAborted()
    throw new StartupError(`The server was not ready within ${START_TIMEOUT_MS / 1000} s:\n${output}`)
  } catch (error) {
    await stop()
    throw error
  }
}

/** Ready, and with a worker. */
async function isReady(url: string): Promise<boolean> {
  const ready = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
  if (ready?.ok !== true) return false
  const body = (await ready.json()) as { workers?: { ok: boolean } } // as /readyz answers
  return body.workers?.ok === true
}

export async function getFreePort(): Promise<number> {
  const probe = createServer()
  const { promise, resolve } = Promise.withResolvers<number>()
  probe.listen(0, '127.0.0.1', () => {
    const address = probe.address()
    probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
  })
  return promise
}
