/**
 * Writes docs/reference/dependencies.md: each direct dependency of a deployment with its reason and license, and the licenses of all
 * others.
 *   npm run docs:dependencies
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEPENDENCY_REASONS } from './dependencies/reasons.ts'

const ROOT = join(import.meta.dirname, '..')
const REDIS_PINS = 'src/main/bootstrap/python/requirements-redis.txt'
const readProjectFile = (file: string) => readFileSync(join(ROOT, file), 'utf8')

interface LockEntry {
  version: string
  dev?: boolean
  license?: string
}
const { packages } = JSON.parse(readProjectFile('package-lock.json')) as { packages: Record<string, LockEntry> } // as npm writes it
const manifest = JSON.parse(readProjectFile('package.json')) as Record<string, Record<string, string>> // as we write it

const PAGE_HEAD = `# Dependencies

Every package that runs in a deployment, with its version, its license and the reason for it. All are pinned with hashes: npm packages in
package-lock.json, Python packages in requirements.txt.

This project is licensed under Apache-2.0. One part of a dependency has a strong copyleft license: data and code of the task \`acre\`
of reasoning-gym are **GPL-3.0**. They are installed with the library, which runs in separate Python processes. None of them is
in this repository.
`

writeFileSync(
  join(ROOT, 'docs', 'reference', 'dependencies.md'),
  [PAGE_HEAD, ...formatNodeTable(), ...formatPythonTable(), ...formatLicenses()].join('\n'),
)

function formatNodeTable(): string[] {
  const names = ['dependencies', 'optionalDependencies'].flatMap((kind) => Object.keys(manifest[kind] ?? {}))
  const rows = names.map((name) => {
    const entry = packages[`node_modules/${name}`]
    return `| ${name} | ${entry?.version} | ${entry?.license ?? readLicense(`node_modules/${name}`)} | ${DEPENDENCY_REASONS[name] ?? ''} |`
  })
  return ['## npm', '', '| package | version | license | reason |', '|---|---|---|---|', ...rows, '']
}

/** Lock entries for other platforms have no license and are not installed here. They are parts of packages that are. */
function readLicense(place: string): string {
  if (!existsSync(join(ROOT, place))) return 'for another platform'
  const { license = 'unknown' } = JSON.parse(readProjectFile(`${place}/package.json`)) as { license?: string } // by convention
  return license
}

function formatPythonTable(): string[] {
  const direct = [...readProjectFile('scripts/python/requirements/requirements.in').matchAll(/^([\w.-]+)/gm)].map(
    ([, name]) => name ?? '',
  )
  const all = parsePins('requirements.txt')
  const rows = [...direct, ...parsePins(REDIS_PINS).keys()].map((name) => {
    const version = all.get(name) ?? parsePins(REDIS_PINS).get(name)
    return `| ${name} | ${version} | ${readPythonLicense(name)} | ${DEPENDENCY_REASONS[name] ?? ''} |`
  })
  const others = [...all.keys()].filter((name) => !direct.includes(name))
  return [
    '## Python',
    '',
    '| package | version | license | reason |',
    '|---|---|---|---|',
    ...rows,
    '',
    `These packages need ${others.length} others, which requirements.txt pins: ${listLicenses(others)}.`,
    '',
  ]
}

/** The licenses of packages, each once. */
function listLicenses(names: string[]): string {
  return [...new Set(names.map((name) => readPythonLicense(name).replace(/^Apache.*2\.0$/, 'Apache-2.0')))]
    .toSorted()
    .join(', ')
}

function parsePins(file: string): Map<string, string> {
  return new Map(
    [...readProjectFile(file).matchAll(/^([\w.-]+)==(\S+)/gm)].map(([, name = '', version = '']) => [name, version]),
  )
}

function readPythonLicense(name: string): string {
  const lib = join(ROOT, '.venv', 'lib')
  const site = join(lib, readdirSync(lib)[0] ?? '', 'site-packages')
  const folder = readdirSync(site).find((entry) => entry.toLowerCase().startsWith(`${name.replaceAll('-', '_')}-`))
  const [file = 'METADATA'] = ['METADATA', 'PKG-INFO'].filter((one) => existsSync(join(site, folder ?? '', one)))
  const metadata = readFileSync(join(site, folder ?? '', file), 'utf8') // a wheel's, or what was built from source
  const given = /^License-Expression: (.+)$/m.exec(metadata)?.[1] ?? /^License: (.{1,40})$/m.exec(metadata)?.[1]
  return given ?? /^Classifier: License :: (?:OSI Approved :: )?(.+)$/m.exec(metadata)?.[1] ?? 'see the package'
}

/** Licenses of all packages needed at run time, including transitive ones. */
function formatLicenses(): string[] {
  const counts = new Map<string, number>()
  const running = Object.entries(packages).filter(([place, { dev }]) => place !== '' && !dev)
  for (const [place, { license = readLicense(place) }] of running) counts.set(license, (counts.get(license) ?? 0) + 1)
  const list = [...counts].toSorted(([, a], [, b]) => b - a).map(([name, count]) => `${name} ${count}`)
  return [
    '## Licenses',
    '',
    `Licenses of the ${running.length} npm packages needed at run time: ${list.join(', ')}.`,
    '',
  ]
}
