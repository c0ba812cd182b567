/** Watches a server from outside while it is attacked: what processes it has, what its hosts take, who calls from inside. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const POLL_INTERVAL_MS = 100
/** What a server consists of; anything else that descends from it was made by an answer. */
const EXPECTED_PROCESS_PATTERN =
  /serve\.ts|api\.ts|worker\.ts|zygote\.py|redis-(server|aof-rewrite|rdb-bgsave)|^ps |^\[python/

export interface ServerWatch {
  marker: string
  port: number
  /** What must not be: a file, a socket, a process that is none of ours. */
  listTraces(): string[]
  /** The most that a Python process has had in memory and mapped, in MB. */
  getPeakMemory(): { residentMb: number; mappedMb: number }
  stop(): void
}

export async function watchServer(serverPid: number): Promise<ServerWatch> {
  const marker = join(tmpdir(), `rgs-attack-${process.pid}-${Date.now()}`)
  let calls = 0
  const listener = createServer((socket) => {
    calls++
    socket.destroy()
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  listener.listen(0, '127.0.0.1', resolve)
  await promise
  const address = listener.address()
  const strangers = new Set<string>()
  let [residentMb, mappedMb] = [0, 0]
  const look = () => {
    for (const { pid, args } of listDescendants(serverPid)) {
      if (!EXPECTED_PROCESS_PATTERN.test(args)) strangers.add(args.slice(0, 200))
      if (!args.includes('zygote.py')) continue
      residentMb = Math.max(residentMb, readStatusMb(pid, 'VmHWM'))
      mappedMb = Math.max(mappedMb, readStatusMb(pid, 'VmPeak'))
    }
  }
  const timer = setInterval(look, POLL_INTERVAL_MS)
  return {
    marker,
    port: typeof address === 'object' && address ? address.port : 0,
    listTraces() {
      look()
      const files = [marker, 'pwned'].filter((path) => existsSync(path))
      return [
        ...files.map((path) => `the file ${path}`),
        ...(calls > 0 ? [`${calls} sockets`] : []),
        ...[...strangers].map((args) => `the process ${args}`),
      ]
    },
    getPeakMemory: () => ({ residentMb, mappedMb }),
    stop() {
      clearInterval(timer)
      listener.close()
    },
  }
}

function listDescendants(root: number): { pid: number; args: string }[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,args=']).toString().trim().split('\n')
  const processes = rows.map((row) => {
    const [, pid = '', ppid = '', args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? []
    return { pid: Number(pid), ppid: Number(ppid), args }
  })
  const children = Map.groupBy(processes, ({ ppid }) => ppid)
  const found: { pid: number; args: string }[] = []
  const queue = [root]
  for (const pid of queue) {
    for (const child of children.get(pid) ?? []) {
      queue.push(child.pid)
      found.push(child)
    }
  }
  return found
}

function readStatusMb(pid: number, field: string): number {
  try {
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes ?? 0) / 1024
  } catch {
    return 0 // it has ended
  }
}
