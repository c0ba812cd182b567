import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DEPENDENCY_REASONS } from '../../scripts/dependencies/reasons.ts'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
const REDIS_PINS = 'src/main/bootstrap/python/requirements-redis.txt'
const manifest = JSON.parse(read('package.json'))
const node = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) => Object.keys(manifest[kind]))
const python = [
  ...read('scripts/python/requirements/requirements.in').matchAll(/^([\w.-]+)/gm),
  ...read(REDIS_PINS).matchAll(/^([\w.-]+)==/gm),
].map(([, name]) => name ?? '')

it('every direct dependency has its reason, and nothing else has', () => {
  expect(Object.keys(DEPENDENCY_REASONS).toSorted()).toEqual([...node, ...python].toSorted())
})

it('docs/reference/dependencies.md lists exactly those of a deployment, with versions as they are locked: npm run docs:dependencies', () => {
  const rows = [...read('docs/reference/dependencies.md').matchAll(/^\| (\S+) \| (\d\S*) \| ([^|]+) \| (.+) \|$/gm)]
  expect(rows.map(([, name = '']) => name).toSorted()).toEqual(
    Object.keys(DEPENDENCY_REASONS)
      .filter((name) => !(name in manifest.devDependencies))
      .toSorted(),
  )
  const { packages } = JSON.parse(read('package-lock.json'))
  for (const [, name = '', version, license, reason] of rows) {
    const locked = packages[`node_modules/${name}`]?.version
    if (locked !== undefined) expect([name, version]).toEqual([name, locked])
    else expect(read('requirements.txt') + read(REDIS_PINS)).toContain(`${name}==${version} `)
    expect([name, license?.trim() === 'unknown' || license?.trim() === '', reason]).toEqual([
      name,
      false,
      DEPENDENCY_REASONS[name],
    ])
  }
})

it('everything that is installed has a hash', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  const ofThisPlatform = Object.entries<{ integrity?: string; optional?: boolean; link?: boolean }>(packages).filter(
    ([place, { optional, link }]) => place !== '' && !optional && !link && !place.startsWith('packages/'),
  )
  expect(ofThisPlatform.filter(([, { integrity }]) => integrity === undefined)).toEqual([])
  for (const file of [
    'requirements.txt',
    REDIS_PINS,
    'scripts/python/requirements/tools.txt',
    'scripts/python/requirements/typing.txt',
  ]) {
    const pins = read(file)
      .split(/\n(?=\S)/)
      .filter((pin) => /^[\w.-]+==/.test(pin))
    expect(pins.length).toBeGreaterThan(0)
    for (const pin of pins) expect(pin).toContain('--hash=sha256:')
  }
})

it('the page names the license of the data of acre', () =>
  expect(read('docs/reference/dependencies.md')).toMatch(/`acre`[\s\S]*GPL-3\.0/))

it('what npm calls by itself needs nothing but bin/', () => {
  const called = ['dependencies', 'install', 'postinstall', 'preinstall', 'prepare', 'prepublish']
  const scripts = Object.entries(manifest.scripts).filter(([name]) => called.includes(name))
  expect(scripts).toEqual([['prepare', 'node bin/link-node.js']]) // in the image there is no scripts/
})
