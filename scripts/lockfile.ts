/**
 * Completes package-lock.json: `npm ci` wants an entry for the optional packages of every platform, and `npm install`
 * leaves out those that the registry at hand does not offer. And `npm ci` silently leaves out an optional package that asks for a newer
 * Node than the one that runs npm: nothing here runs on that one, so these entries name no Node. Run it after every change of dependencies:
 *   npm install --package-lock-only && node scripts/lockfile.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'

interface LockEntry {
  version: string
  dev?: boolean
  optional?: boolean
  engines?: Record<string, string>
  optionalDependencies?: Record<string, string>
  os?: string[]
  cpu?: string[]
  libc?: string[]
}

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']
const PROCESSORS = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'wasm']

const LOCKFILE = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(LOCKFILE, 'utf8')) as { packages: Record<string, LockEntry> } // as npm writes it
const added: string[] = []

for (const { dev, optionalDependencies } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
    const place = `node_modules/${name}`
    const platform = parsePlatform(name)
    if (lock.packages[place] || !platform || !/^\d/.test(version)) continue
    lock.packages[place] = { version, ...platform, ...(dev && { dev }), optional: true }
    added.push(name)
  }
}
for (const entry of Object.values(lock.packages)) if (entry.optional) delete entry.engines
const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1))
writeFileSync(LOCKFILE, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`)
console.log(`${added.length} packages of other platforms added`)

/** What a platform package's name says of where it runs; undefined if it names no platform. */
function parsePlatform(name: string): Pick<LockEntry, 'os' | 'cpu' | 'libc'> | undefined {
  const words = name.split(/[-/]/)
  const os = SYSTEMS.filter((system) => words.includes(system))
  const cpu = PROCESSORS.filter((processor) => words.includes(processor))
  if (os.length + cpu.length === 0) return undefined
  return {
    ...(os.length > 0 && { os }),
    ...(cpu.length > 0 && { cpu: cpu.slice(0, 1) }),
    ...(words.includes('musl') && { libc: ['musl'] }),
  }
}
