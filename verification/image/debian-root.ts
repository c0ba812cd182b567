/** A Debian root folder: commands run in it by chroot, as a container's would. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { listDescendants, readProportionalMb } from '../support/processes.ts'

const REMOVED_FOLDERS = ['/usr/share/doc', '/usr/share/info', '/usr/share/locale', '/usr/share/man']
const START_TIMEOUT_MS = 120_000
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export const toMegabytes = (bytes: number) => Math.round(bytes / 1e6)

export class DebianRoot {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Made once; a folder that is there is taken as it is. */
  static bootstrap(path: string, suite: string, mirror: string): DebianRoot {
    if (!fs.existsSync(join(path, 'bin', 'sh'))) {
      execFileSync('debootstrap', ['--variant=minbase', suite, path, mirror], { stdio: 'inherit' })
    }
    return new DebianRoot(path)
  }

  resolvePath(place: string): string {
    return join(this.#path, place)
  }

  /** `files` of this machine lie in it at the same place. */
  copy(path: string, files: string[] = []): DebianRoot {
    fs.rmSync(path, { recursive: true, force: true })
    execFileSync('cp', ['-a', this.#path, path])
    const root = new DebianRoot(path)
    root.#slim()
    for (const file of ['/etc/resolv.conf', ...files]) {
      fs.mkdirSync(dirname(root.resolvePath(file)), { recursive: true })
      fs.copyFileSync(file, root.resolvePath(file))
    }
    return root
  }

  /** As the official slim images are: no packages kept, no manuals, no translations. */
  #slim(): void {
    for (const folder of ['/var/cache/apt', '/var/lib/apt/lists', ...REMOVED_FOLDERS]) {
      fs.rmSync(this.resolvePath(folder), { recursive: true, force: true })
      fs.mkdirSync(this.resolvePath(folder))
    }
    fs.writeFileSync(
      this.resolvePath('/etc/apt/apt.conf.d/slim'),
      'APT::Keep-Downloaded-Packages "false";\nDir::Cache::pkgcache "";\nDir::Cache::srcpkgcache "";\n',
    )
    const excluded = REMOVED_FOLDERS.map((folder) => `path-exclude ${folder}/*\n`).join('')
    fs.writeFileSync(this.resolvePath('/etc/dpkg/dpkg.cfg.d/slim'), excluded)
  }

  /** Node from its npm package and this machine's npm, where the official image has them. */
  addNode(folder: string): void {
    fs.cpSync(join(folder, 'bin', 'node'), this.resolvePath('/usr/local/bin/node'))
    const command = execFileSync('sh', ['-c', 'command -v npm']).toString().trim()
    const npm = join(dirname(fs.realpathSync(command)), '..')
    fs.cpSync(npm, this.resolvePath('/usr/local/lib/node_modules/npm'), { recursive: true })
    fs.symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', this.resolvePath('/usr/local/bin/npm'))
  }

  /** As root, with the network; throws what it printed. */
  run(command: string, folder: string): void {
    const env = { ...process.env, PATH, HOME: '/root' }
    const { status, stdout, stderr } = this.#spawnSync(['sh', '-c', command], 0, env, folder)
    if (status !== 0) throw new Error(`${command}\n${stdout}\n${stderr}`)
  }

  succeeds(command: string[], user: number, env: Record<string, string>, folder: string): boolean {
    return this.#spawnSync(command, user, { PATH, ...env }, folder).status === 0
  }

  start(command: string[], user: number, env: Record<string, string>, folder = '/'): ContainerProcess {
    const child = spawn('unshare', this.#arguments(command, user, folder), {
      env: { PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return new ContainerProcess(child)
  }

  /** What the files take, without what belongs to the machine. */
  getDiskBytes(part = ''): number {
    const output = execFileSync('du', ['-sb', '--one-file-system', this.resolvePath(part)]).toString()
    return Number.parseInt(output, 10)
  }

  #spawnSync(command: string[], user: number, env: NodeJS.ProcessEnv, folder: string) {
    return spawnSync('unshare', this.#arguments(command, user, folder), { env, encoding: 'utf8', maxBuffer: 64 << 20 })
  }

  /** /proc is mounted in a namespace that goes with the command: nothing stays mounted. */
  #arguments(command: string[], user: number, folder: string): string[] {
    const inside =
      'mount -t proc proc "$0/proc" && user="$1" && folder="$2" && shift 2 && exec chroot --userspec="$user" "$0" sh -c \'cd "$0" && exec "$@"\' "$folder" "$@"'
    return ['--mount', 'sh', '-c', inside, this.#path, `${user}:${user}`, folder, ...command]
  }
}

export class ContainerProcess {
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  #output = ''

  constructor(child: ChildProcess) {
    this.#child = child
    const { promise, resolve } = Promise.withResolvers<number | null>()
    this.#ended = promise
    child.once('exit', resolve)
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output += chunk.toString()
      })
    }
  }

  getOutput(): string {
    return this.#output
  }

  async waitUntil(well: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + START_TIMEOUT_MS
    for (; Date.now() < end && this.#child.exitCode === null; await sleep(200)) if (await well()) return
    throw new Error(`not healthy:\n${this.#output}`)
  }

  /** Of the process and all that it has started. */
  getMemoryMb(): number {
    const pid = this.#child.pid ?? 0
    return [pid, ...listDescendants(pid).map((child) => child.pid)].reduce(
      (sum, one) => sum + readProportionalMb(one),
      0,
    )
  }

  stop(): Promise<number | null> {
    this.#child.kill('SIGTERM')
    return this.#ended
  }
}
