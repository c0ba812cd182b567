import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

interface Architecture {
  layers: string[]
}

interface Manifest {
  dependencies?: Record<string, string>
}

const { layers } = JSON.parse(readFileSync('architecture.json', 'utf8')) as Architecture
/** The WebAssembly source has a compiler and a standard library of its own. */
const files = globSync(['src/**/*.{ts,js}', 'routes/**/*.ts', 'packages/*/src/**/*.{ts,js}']).filter(
  (file) => !file.includes('/assembly/'),
)
const scripts = globSync('src/**/*.lua')
const isInPackage = (file: string) => file.startsWith('packages/')

const IMPORT = /^(?:import|export)\s[^'";]*?from '(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm
/** Of any module, packages of npm included. */
const SPECIFIER = /^(?:import|export)\s[^'";]*?from '([^']+)'|\bimport\('([^']+)'\)/gm
/** A Lua script includes parts as a module imports others. */
const INCLUDE = /^-- include (\S+)$/gm
const imports = [
  ...files.flatMap((from) =>
    [...readFileSync(from, 'utf8').matchAll(IMPORT)].map(([, path, bare, dynamic]) => ({
      from,
      to: join(dirname(from), path ?? bare ?? dynamic ?? ''),
    })),
  ),
  ...scripts.flatMap((from) =>
    [...readFileSync(from, 'utf8').matchAll(INCLUDE)].map(([, path]) => ({
      from,
      to: join(dirname(from), `${path}.lua`),
    })),
  ),
]

/** The most specific folder of the table that holds the file. */
function layerOf(file: string): string | undefined {
  const holding = layers.filter((layer) => file.startsWith(`${layer}/`))
  return holding.toSorted((a, b) => b.length - a.length)[0]
}

it('every source file lies in a layer of architecture.json', () => {
  expect(files.filter((file) => !isInPackage(file) && layerOf(file) === undefined)).toEqual([])
})

it('imports and includes of Lua scripts point to the same layer or to a lower one', () => {
  const violations = imports.filter(({ from, to }) => {
    if (isInPackage(from)) return false
    const [above = '', below = ''] = [layerOf(from), layerOf(to)]
    if (above === below) return false
    return layers.indexOf(below) > layers.indexOf(above)
  })
  expect(violations.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
})

it('CONTRIBUTING.md lists the features in the order of architecture.json', () => {
  const features = layers.flatMap((layer) => /^src\/features\/(.+)/.exec(layer)?.[1] ?? [])
  const list = features.map((name) => `\`${name}\``).join(', ')
  expect(readFileSync('CONTRIBUTING.md', 'utf8')).toContain(`in this order: ${list}.`)
})

it('a package imports only itself and what its package.json declares', () => {
  const violations = files.filter(isInPackage).flatMap((from) => {
    const root = from.split('/').slice(0, 2).join('/')
    const { dependencies = {} } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as Manifest
    const isAllowed = (specifier: string) =>
      specifier.startsWith('.')
        ? join(dirname(from), specifier).startsWith(`${root}/src/`)
        : specifier.startsWith('node:') ||
          Object.keys(dependencies).some((name) => `${specifier}/`.startsWith(`${name}/`))
    const specifiers = [...readFileSync(from, 'utf8').matchAll(SPECIFIER)].map(
      ([, static_, dynamic]) => static_ ?? dynamic ?? '',
    )
    return specifiers.filter((specifier) => !isAllowed(specifier)).map((specifier) => `${from} → ${specifier}`)
  })
  expect(violations).toEqual([])
})

it('no file imports itself through other files, not even types', () => {
  const targets = Map.groupBy(imports, ({ from }) => from)
  const done = new Set<string>()
  const findCycle = (file: string, path: string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const { to } of targets.get(file) ?? []) {
      const cycle = findCycle(to, [...path, file])
      if (cycle) return cycle
    }
    done.add(file)
    return undefined
  }
  expect([...files, ...scripts].flatMap((file) => findCycle(file, []) ?? [])).toEqual([])
})

it('the parent process of a server, which stays in memory, loads no library that only its children need', () => {
  const STATIC = /^(?:import|export)\s(?!type\b)[^'";]*?from '([^']+)'|^import '([^']+)'/gm
  const loaded = new Set(['src/main/serve.ts'])
  const libraries = new Set<string>()
  for (const from of loaded) {
    for (const [, named = '', bare = named] of readFileSync(from, 'utf8').matchAll(STATIC)) {
      if (bare.startsWith('.')) loaded.add(join(dirname(from), bare))
      else libraries.add(bare)
    }
  }
  expect(libraries).toContain('pino') // else nothing was read
  const onlyOfChildren = ['bullmq', 'fastify', 'ioredis', 'openai', 'pino-pretty', 'prom-client']
  expect(onlyOfChildren.filter((name) => libraries.has(name))).toEqual([])
})
