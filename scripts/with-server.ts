/** A server for a script: the one at `url`, or one of its own that is started as a user would and stopped again. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const START_MS = 300_000 // the first start prepares the Python environment

export async function withServer<T>(
  url: string | undefined,
  use: (url: string) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  if (url !== undefined) return use(url.replace(/\/$/, ''))
  const server = await startServer(env)
  try {
    return await use(server.url)
  } finally {
    await server.stop()
  }
}

export interface RunningServer {
  url: string
  pid: number
  dataDir: string
  /** What it has printed so far. */
  output(): string
  stop(): Promise<number | null>
}

/** Starts `src/serve.ts` on a free port with a data folder of its own, and waits until it is ready. */
export async function startServer(env: Record<string, string> = {}): Promise<RunningServer> {
  const port = env.PORT ?? (await freePort())
  const dataDir = mkdtempSync(join(tmpdir(), 'rgs-data-'))
  const serve = join(import.meta.dirname, '..', 'src', 'serve.ts')
  const child = spawn(process.execPath, [serve], {
    env: { ...process.env, PORT: String(port), DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const { promise: ended, resolve } = Promise.withResolvers<number | null>()
  child.once('exit', resolve)
  const stop = async () => {
    child.kill('SIGTERM')
    const code = await ended
    rmSync(dataDir, { recursive: true, force: true })
    return code
  }
  const url = `http://127.0.0.1:${port}`
  for (const until = Date.now() + START_MS; Date.now() < until; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`the server ended while it started:\n${output}`)
    const ready = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
    const body = ready?.ok ? ((await ready.json()) as { workers: { ok: boolean } }) : undefined // as /readyz answers
    if (body?.workers.ok) return { url, pid: child.pid ?? 0, dataDir, output: () => output, stop }
  }
  await stop()
  throw new Error(`the server was not ready within ${START_MS / 1000} s:\n${output}`)
}

export async function freePort(): Promise<number> {
  const probe = createServer()
  const { promise, resolve } = Promise.withResolvers<number>()
  probe.listen(0, '127.0.0.1', () => {
    const address = probe.address()
    probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
  })
  return promise
}
