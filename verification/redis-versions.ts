/**
 * Runs the tests that meet Redis on the Redis of other machines: those of Debian's releases, unpacked and not installed. Exit 1 where a
 * test fails or a Redis cannot be had.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { unpackPackages } from './debian/archive.ts'

const VERSIONS: Readonly<Record<string, { release: string; package: string; program: string }>> = {
  'debian-12': { release: 'bookworm', package: 'redis-server', program: 'redis-server' },
  'debian-13': { release: 'trixie', package: 'redis-server', program: 'redis-server' },
  valkey: { release: 'trixie', package: 'valkey-server', program: 'valkey-server' },
}

/** Failures, processes, the private Redis, queues, and the features that live on Lua scripts. */
const TESTS = [
  'test/failures/',
  'test/processes/',
  'test/main/bootstrap/redis/',
  'test/platform/',
  ...['batches', 'rewinds', 'rollouts', 'runs/checkpoint', 'runs/deletion', 'runs/flow'].map(
    (feature) => `test/features/${feature}`,
  ),
]
/** Failures of Python and of the machine, which no Redis can change. */
const EXCLUDED = ['engine', 'engine-upgrade', 'open-files'].map((name) => `--exclude=test/failures/${name}.test.ts`)

const { positionals } = parseArgs({ allowPositionals: true })
const folder = mkdtempSync(join(tmpdir(), 'redis-versions-'))
let failed = false
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(VERSIONS)) {
    const path = `${createProgramFolder(name)}:${process.env.PATH}`
    const version = execFileSync('redis-server', ['--version'], {
      encoding: 'utf8',
      env: { ...process.env, PATH: path },
    })
    console.log(`${name}: ${version.trim()}`)
    const args = ['vitest', 'run', '--project', 'server', '--reporter=dot', ...EXCLUDED, ...TESTS]
    const { status } = spawnSync('npx', args, { stdio: 'inherit', env: { ...process.env, PATH: path, NO_COLOR: '1' } })
    console.log(`${name}: the tests ${status === 0 ? 'passed' : 'failed'}`)
    failed ||= status !== 0
  }
} finally {
  rmSync(folder, { recursive: true })
}
process.exitCode = failed ? 1 : 0

/** A folder for the PATH with nothing but this `redis-server`, which runs on the libraries of its release. */
function createProgramFolder(name: string): string {
  const version = VERSIONS[name]
  if (version === undefined) throw new Error(`No Redis is named ${name}: ${Object.keys(VERSIONS).join(', ')}`)
  const root = join(folder, name)
  mkdirSync(root)
  unpackPackages(version.release, [version.package, 'patchelf'], root)
  const find = (pattern: string) => globSync(`{,usr/}${pattern}`, { cwd: root }).map((path) => join(root, path))
  const [loader = ''] = find('lib*/ld-linux-*.so.*')
  const libraries = find('lib/*-linux-gnu').join(':')
  const program = join(root, 'usr/bin', version.program)
  const patch = ['--set-interpreter', loader, '--force-rpath', '--set-rpath', libraries, program]
  execFileSync(loader, ['--library-path', libraries, join(root, 'usr/bin/patchelf'), ...patch])
  const bin = join(root, 'only-redis')
  mkdirSync(bin)
  symlinkSync(program, join(bin, 'redis-server'))
  return bin
}
