/** A command loads only what it needs: modules cost startup time, and a timing would depend on the machine. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'

const STATIC_IMPORT = /^(?:import|export)\s(?!type\s)[^'";]*?from '([^']+)'|^import '([^']+)'/gm
const LOADER = /import\('(\.[^']+)'\)/g
const SERVER_COMMANDS = new Set(['serve', 'api', 'worker', 'doctor', 'demo'])

/** The files and packages that a file loads when it is imported. Imports of Node's own modules are left out. */
function loadGraph(root: string): { files: string[]; packages: string[] } {
  const files = new Set([root])
  const packages = new Set<string>()
  for (const file of files)
    for (const [, from, bare] of readFileSync(file, 'utf8').matchAll(STATIC_IMPORT)) {
      const name = from ?? bare ?? ''
      if (name.startsWith('.')) files.add(join(dirname(file), name))
      else if (!name.startsWith('node:')) packages.add(name)
    }
  return { files: [...files].sort(), packages: [...packages].sort() }
}

it('--help loads one package and few files', () => {
  const { files, packages } = loadGraph('src/cli/program.ts')
  expect(packages).toEqual(['commander'])
  expect(files.length).toBeLessThanOrEqual(16)
  expect(loadGraph('src/cli/main.ts').packages).toEqual([])
})

it.each(COMMANDS.filter(({ name }) => !SERVER_COMMANDS.has(name)))(
  '$name loads neither the server nor the packages of the server',
  ({ load }) => {
    const [, module = ''] = [...String(load).matchAll(/import[^'"]*['"](?:\/src\/cli\/|\.\/)([\w-]+\.ts)/g)][0] ?? []
    const { files, packages } = loadGraph(join('src/cli', module))
    expect(packages.filter((name) => !['commander', 'zod', 'cli-progress'].includes(name))).toEqual([])
    expect(files.filter((file) => !/^src\/(?:cli|codec|platform)\//.test(file))).toEqual([])
    expect(files.length).toBeLessThanOrEqual(40)
  },
)

it('the modules that are loaded later exist', () => {
  for (const file of globSync('src/cli/**/*.ts'))
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(LOADER))
      expect(globSync(join(dirname(file), path))).toHaveLength(1)
})
