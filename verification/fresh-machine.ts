/**
 * Follows the README on a new Debian, as far as a folder can imitate one: a minimal root made by mmdebstrap, the line for root, then those
 * of an ordinary user: start, the example of Score, doctor, and the tests. Exit 1 where a line fails. It needs root and mmdebstrap.
 *
 * It cannot show what another kernel, systemd, SELinux or a Docker image does; npm, pip and apt use this machine's network and its
 * certificates; and processors and memory are those of this machine.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findMirror } from './debian/archive.ts'

const RELEASES: Readonly<Record<string, string>> = { 'debian-12': 'bookworm', 'debian-13': 'trixie' }
const CERTIFICATES = '/usr/local/share/ca-certificates'
/** Variables of this machine that say how its network is reached. */
const NETWORK_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'PIP_CERT', 'SSL_CERT_FILE', 'https_proxy', 'http_proxy', 'no_proxy']
const START_TIMEOUT_MS = 600_000
const PROJECT = join(import.meta.dirname, '..')
const CHECKOUT = '/var/stranger/reasoning-gym-server'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'without-redis': { type: 'boolean', default: false }, keep: { type: 'boolean', default: false } },
})
if (process.getuid?.() !== 0) throw new Error('Run it as root: it makes a root folder with mounts of its own.')
if (spawnSync('mmdebstrap', ['--version']).error) throw new Error('Install mmdebstrap: apt install mmdebstrap')
const readme = readFileSync(join(PROJECT, 'README.md'), 'utf8')
const [rootLine = '', startLine = ''] = findBlock('## Install and start').split('\n')
const scoreLines = findBlock('## Score')
const testLine = /`(npm ci && npm test)`\s+runs\s+the\s+tests/.exec(readme)?.[1] ?? ''
for (const name of positionals.length > 0 ? positionals : Object.keys(RELEASES)) await followReadme(name)

/** The first program text after a heading. */
function findBlock(heading: string): string {
  const [, block] = /```(?:ba)?sh\n(.+?)\n```/s.exec(readme.slice(readme.indexOf(heading))) ?? []
  if (block === undefined) throw new Error(`README.md has no program text after ${heading}`)
  return block
}

async function followReadme(name: string): Promise<void> {
  const release = RELEASES[name]
  if (release === undefined) throw new Error(`No release is named ${name}: ${Object.keys(RELEASES).join(', ')}`)
  const root = mkdtempSync(join(tmpdir(), `fresh-${name}-`))
  try {
    console.log(`${name}: making a minimal root`)
    makeRoot(release, root)
    const asRoot = values['without-redis'] ? rootLine.replace(' redis-server', '') : rootLine
    await step(name, root, asRoot, 'root')
    const server = enter(root, startLine, 'stranger')
    try {
      await waitForAddress(name, server)
      const scored = await step(name, root, scoreLines, 'stranger')
      const [, expected = '?'] = /^# (\{"rewards".+)$/m.exec(scoreLines) ?? []
      if (!scored.includes(expected)) throw new Error(`The example of Score gave ${scored}, not ${expected}`)
      await step(name, root, 'npx reasoning-gym-server doctor', 'stranger')
    } finally {
      server.kill('SIGTERM') // with it, all processes of its namespace end
    }
    const tested = await step(name, root, testLine, 'stranger')
    console.log(
      `${name}: ${tested
        .split('\n')
        .filter((line) => /Tests |Duration/.test(line))
        .join(', ')}`,
    )
    console.log(`${name}: every line of the README works`)
  } finally {
    if (values.keep) console.log(`${name}: kept ${root}`)
    else rmSync(root, { recursive: true, force: true })
  }
}

function makeRoot(release: string, root: string): void {
  const hook = `--customize-hook=chroot "$1" useradd --create-home --home-dir /var/stranger --shell /bin/bash stranger`
  const packages = '--include=ca-certificates' // as everyone has who cloned the repository
  execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', packages, hook, release, root, findMirror()], {
    stdio: 'inherit',
  })
  if (existsSync(CERTIFICATES)) cpSync(CERTIFICATES, join(root, CERTIFICATES), { recursive: true })
  writeFileSync(join(root, 'etc/apt/apt.conf.d/90yes'), 'APT::Get::Assume-Yes "true";\n') // nobody is there to answer
  execFileSync('chroot', [root, 'update-ca-certificates'], { stdio: 'ignore' })
  execFileSync('git', ['clone', '--quiet', '--no-hardlinks', PROJECT, join(root, CHECKOUT)])
  execFileSync('chroot', [root, 'chown', '-R', 'stranger:', CHECKOUT])
}

/** Runs lines in the root as a user, with processes and mounts of its own that end with it. */
function enter(root: string, lines: string, user: 'root' | 'stranger'): ChildProcess {
  const mounts = 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; mount --rbind /sys "$0/sys"'
  const network = NETWORK_VARIABLES.flatMap((name) => (process.env[name] ? [`${name}=${process.env[name]}`] : []))
  const home = user === 'root' ? '/' : '/var/stranger'
  const env = `env -i HOME=${home} PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${network.join(' ')}`
  const shell = `cd ${user === 'root' ? '/' : CHECKOUT}\n${lines}\nexit $?` // bash stays, to reap the children of killed processes
  const command = `set -e; ${mounts}; exec chroot --userspec=${user} "$0" ${env} bash -c "$1"`
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child=SIGTERM']
  return spawn('unshare', [...namespaces, 'bash', '-c', command, root, shell], { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function step(name: string, root: string, lines: string, user: 'root' | 'stranger'): Promise<string> {
  console.log(`${name}: ${user}: ${lines.split('\n')[0]}`)
  const started = performance.now()
  const child = enter(root, lines, user)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.once('close', resolve)
  const code = await promise
  console.log(`${name}: took ${Math.round((performance.now() - started) / 1000)} s, exit ${code}`)
  if (code !== 0) {
    const log = join(tmpdir(), `fresh-${name}.log`)
    writeFileSync(log, output)
    throw new Error(`${name}: this failed: ${lines}\n${output.slice(-5000)}\nAll that it printed is in ${log}`)
  }
  return output
}

async function waitForAddress(name: string, server: ChildProcess): Promise<void> {
  console.log(`${name}: stranger: ${startLine}`)
  const started = performance.now()
  let output = ''
  for (const stream of [server.stdout, server.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  while (!/http:\/\/127\.0\.0\.1:8000/.test(output)) {
    if (server.exitCode !== null || performance.now() - started > START_TIMEOUT_MS)
      throw new Error(`${name}: the server did not start:\n${output.slice(-20_000)}`)
    await sleep(500)
  }
  console.log(`${name}: the server printed its address after ${Math.round((performance.now() - started) / 1000)} s`)
}
