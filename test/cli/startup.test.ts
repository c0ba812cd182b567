/** A command loads only what it needs: modules cost startup time, and a timing would depend on the machine. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CLIENT_COMMANDS } from '@reasoning-gym-server/cli/commands'
import { expect, it } from 'vitest'

const STATIC_IMPORT = /^(?:import|export)\s(?!type\s)[^'";]*?from '([^']+)'|^import '([^']+)'/gm
const LOADER = /import\('([^']+)'\)/g
const OWN_PACKAGE = /^@reasoning-gym-server\/([\w-]+)\/(.+)$/

/** The path of a module of ours; undefined for other packages and Node's own modules. */
function resolveModule(from: string, name: string): string | undefined {
  const [, folder = '', path = ''] = OWN_PACKAGE.exec(name) ?? []
  if (folder !== '') return join('packages', folder, 'src', `${path}.ts`)
  return name.startsWith('.') ? join(dirname(from), name) : undefined
}

/** The files and packages that a file loads when it is imported. Imports of Node's own modules are left out. */
function loadGraph(...roots: string[]): { files: string[]; packages: string[] } {
  const files = new Set(roots)
  const packages = new Set<string>()
  for (const file of files)
    for (const [, from, bare] of readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)) {
      const name = from ?? bare ?? ''
      const path = resolveModule(file, name)
      if (path !== undefined) files.add(path)
      else if (!name.startsWith('node:')) packages.add(name)
    }
  return { files: [...files].sort(), packages: [...packages].sort() }
}

it('--help loads one package and few files', () => {
  const { files, packages } = loadGraph('src/main/program.ts', 'packages/cli/src/program.ts')
  expect(packages).toEqual(['commander'])
  expect(files.length).toBeLessThanOrEqual(16)
  expect(loadGraph('src/main/cli.ts').packages).toEqual([])
})

it.each(Object.values(CLIENT_COMMANDS))('$name loads neither the server nor the packages of the server', ({ load }) => {
  const [, module = ''] =
    [...String(load).matchAll(/import[^'"]*['"](?:\/packages\/cli\/src\/|\.\/)(commands\/[\w-]+\.ts)/g)][0] ?? []
  const { files, packages } = loadGraph(join('packages/cli/src', module))
  expect(packages.filter((name) => !['commander', 'zod', 'cli-progress', 'lru-cache'].includes(name))).toEqual([])
  expect(files.filter((file) => !/^packages\/(?:cli|mock-model|codec|contract)\//.test(file))).toEqual([])
  expect(files.length).toBeLessThanOrEqual(40)
})

it('the client commands import nothing of the server, not even later', () => {
  for (const file of globSync('packages/cli/src/**/*.ts'))
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()'([^']+)'/g)) {
      const path = resolveModule(file, name) ?? 'packages/'
      expect([file, path]).toEqual([file, expect.stringMatching(/^packages\//)])
    }
})

it('the modules that are loaded later exist', () => {
  for (const file of globSync(['packages/cli/src/**/*.ts', 'src/main/**/*.ts']))
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(LOADER)) {
      const path = resolveModule(file, name)
      if (path !== undefined) expect(globSync(path)).toEqual([path])
    }
})
