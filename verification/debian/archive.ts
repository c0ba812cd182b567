/** Packages of any Debian release, downloaded with the apt of this machine and unpacked in a folder. Nothing is installed. */
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Where the apt of this machine gets Debian from. Throws on a system that is not Debian's. */
export function findMirror(): string {
  const uris = execFileSync('apt-get', ['indextargets', '--format', '$(REPO_URI)'], { encoding: 'utf8' }).split('\n')
  const mirror = uris.find((uri) => /\/debian\/?$/.test(uri))
  if (mirror === undefined) throw new Error('The apt of this machine has no source of Debian packages.')
  return mirror
}

/** Unpacks packages and all that they need, the C library too, into `root`. */
export function unpackPackages(release: string, packages: readonly string[], root: string): void {
  const state = join(root, 'apt')
  for (const folder of ['lists/partial', 'archives/partial']) mkdirSync(join(state, folder), { recursive: true })
  const sources = join(state, 'sources.list')
  writeFileSync(sources, `deb [signed-by=${KEYRING}] ${findMirror()} ${release} main\n`)
  writeFileSync(join(state, 'status'), '') // no package is there, so that none is left out
  const settings = Object.entries({
    'Dir::State': state,
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': state,
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '/dev/null',
    'APT::Sandbox::User': '', // the folder belongs to this user
    'APT::Install-Recommends': 'false',
    'Acquire::Retries': '5',
  }).map(([name, value]) => `-o${name}=${value}`)
  const run = (...args: string[]) =>
    execFileSync('apt-get', ['-q', ...settings, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  run('update')
  run('install', '--download-only', '--yes', ...packages)
  for (const file of globSync(join(state, 'archives', '*.deb'))) execFileSync('dpkg', ['--extract', file, root])
  rmSync(state, { recursive: true })
}
