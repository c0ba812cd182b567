/** The mock model in a process of its own, by its command; it ends with us. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { endProcess } from '../support/loopback-redis.ts'

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts')
/** A model's server has its bad moments too. */
const BEHAVIOR = [
  '--server-errors',
  '0.03',
  '--rate-limits',
  '0.03',
  '--closed-connections',
  '0.02',
  '--truncations',
  '0.05',
]

export interface MockModelProcess {
  url: string
  stop(): Promise<void>
}

export async function startMockModelProcess(serverUrl: string): Promise<MockModelProcess> {
  const args = [
    '--disable-warning=ExperimentalWarning',
    CLI,
    'mock-model',
    '--port',
    '0',
    '--url',
    serverUrl,
    ...BEHAVIOR,
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill('SIGKILL'))
  const url = await readUrl(child)
  return { url, stop: () => endProcess(child, 'SIGTERM') }
}

async function readUrl(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the mock model has no output')
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\/\/\S+\/v1/.exec(line)?.[0]
    if (url !== undefined) return url
  }
  throw new Error('the mock model ended before it listened')
}
