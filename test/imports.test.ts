import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

interface Architecture {
  layers: string[]
  only: Record<string, { layers: string[]; why: string }>
}

const { layers, only } = JSON.parse(readFileSync('architecture.json', 'utf8')) as Architecture
/** The WebAssembly source has a compiler and a standard library of its own. */
const files = globSync(['src/**/*.{ts,js}', 'routes/**/*.ts']).filter((file) => !file.includes('/assembly/'))

const IMPORT = /^(?:import|export)\s(type\s)?[^'";]*?from '(\.[^']+)'|^import '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm
const imports = files.flatMap((from) =>
  [...readFileSync(from, 'utf8').matchAll(IMPORT)].map(([, type, path, bare, dynamic]) => ({
    from,
    to: join(dirname(from), path ?? bare ?? dynamic ?? ''),
    isValue: type === undefined,
  })),
)

/** The most specific folder of the table that holds the file. */
function layerOf(file: string): string | undefined {
  const holding = [...layers, ...Object.keys(only)].filter((layer) => file.startsWith(`${layer}/`))
  return holding.toSorted((a, b) => b.length - a.length)[0]
}

it('every source file lies in a layer of architecture.json', () => {
  expect(files.filter((file) => layerOf(file) === undefined)).toEqual([])
})

it('imports point to the same layer or to a lower one', () => {
  const violations = imports.filter(({ from, to }) => {
    const [above = '', below = ''] = [layerOf(from), layerOf(to)]
    if (above === below) return false
    return !(only[above]?.layers.includes(below) ?? layers.indexOf(below) < layers.indexOf(above))
  })
  expect(violations.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
})

it('no file imports itself at run time, over whatever other files', () => {
  const targets = Map.groupBy(
    imports.filter(({ isValue }) => isValue),
    ({ from }) => from,
  )
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
  expect(files.flatMap((file) => findCycle(file, []) ?? [])).toEqual([])
})
