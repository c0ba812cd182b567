/**
 * Machines on one network: a namespace for each, with an address of its own, and a switch in user space between them. This
 * process is the machine `load`. Needs root, `ip` and /dev/net/tun.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isProcessAlive } from '../../src/platform/process-state.ts'

/** Reserved for benchmarks between networks (RFC 2544), so that no real machine is hidden. */
const SUBNET = '198.18.77'
const FIRST_ADDRESS = 10
const PREFIX = 'rgsim-'
const MTU = 9000

export interface Link {
  delayMs: number
  jitterMs: number
  /** Share of lost frames. */
  loss: number
}

export class SimulatedNetwork {
  readonly hosts: readonly string[]
  readonly #switch: ChildProcess
  #isClosed = false

  /** The hosts besides this process. Throws with the reason if this machine does not allow it. */
  static async open(hosts: string[], python: string): Promise<SimulatedNetwork> {
    removeAbandonedNamespaces()
    const network = new SimulatedNetwork(hosts, python)
    try {
      await network.#configure()
    } catch (error) {
      network.close()
      throw error
    }
    return network
  }

  private constructor(hosts: string[], python: string) {
    this.hosts = hosts
    for (const host of hosts) ip('netns', 'add', namespaceOf(host))
    const ports = [`${deviceOf('load')}:`, ...hosts.map((host) => `${deviceOf(host)}:${namespaceOf(host)}`)]
    this.#switch = spawn(python, [join(import.meta.dirname, 'switch.py'), ...ports], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    process.once('exit', () => this.close())
  }

  async #configure(): Promise<void> {
    await this.#waitUntilReady()
    for (const host of ['load', ...this.hosts]) {
      const at = host === 'load' ? [] : ['-n', namespaceOf(host)]
      ip(...at, 'address', 'add', `${this.getAddress(host)}/24`, 'dev', deviceOf(host))
      ip(...at, 'link', 'set', deviceOf(host), 'mtu', String(MTU), 'up')
      if (host !== 'load') ip(...at, 'link', 'set', 'lo', 'up')
    }
  }

  async #waitUntilReady(): Promise<void> {
    const { stdout } = this.#switch
    if (!stdout) throw new TypeError('the switch has no output')
    for await (const line of createInterface(stdout)) if (line === 'ready') return
    throw new Error('the switch could not start')
  }

  getAddress(host: string): string {
    return `${SUBNET}.${FIRST_ADDRESS + 1 + this.hosts.indexOf(host)}` // load: the first one
  }

  /** Put this before a command to run it on a host. */
  getLauncher(host: string): string[] {
    return ['ip', 'netns', 'exec', namespaceOf(host)]
  }

  setLink(host: string, { delayMs, jitterMs, loss }: Link): void {
    this.#command({ port: deviceOf(host), delay_ms: delayMs, jitter_ms: jitterMs, loss })
  }

  /** Drops everything that goes from one host to the other. */
  cut(from: string, to: string): void {
    this.#command({ cut: [deviceOf(from), deviceOf(to)] })
  }

  /** Cuts a host off from all others. */
  isolate(host: string): void {
    for (const other of ['load', ...this.hosts]) {
      if (other === host) continue
      this.cut(host, other)
      this.cut(other, host)
    }
  }

  /** Undoes all cuts. */
  heal(): void {
    this.#command({ heal: true })
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#switch.kill('SIGKILL') // its devices go with it
    for (const host of this.hosts) removeNamespace(namespaceOf(host))
  }

  #command(command: object): void {
    this.#switch.stdin?.write(`${JSON.stringify(command)}\n`)
  }
}

const namespaceOf = (host: string) => `${PREFIX}${process.pid}-${host}`
/** Names of devices have at most 15 characters. */
const deviceOf = (host: string) => `rg${process.pid % 100_000}-${host}`

function ip(...args: string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Of runs that were killed. */
function removeAbandonedNamespaces(): void {
  for (const line of ip('netns', 'list').split('\n')) {
    const [name = ''] = line.split(' ')
    const pid = Number(name.slice(PREFIX.length).split('-')[0])
    if (name.startsWith(PREFIX) && !isProcessAlive(pid)) removeNamespace(name)
  }
}

function removeNamespace(name: string): void {
  try {
    for (const pid of ip('netns', 'pids', name).split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGKILL')
    ip('netns', 'delete', name)
  } catch {} // it is gone, or its last process was
}
