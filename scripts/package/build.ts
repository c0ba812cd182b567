/**
 * Compiles the server for packages: Node does not run TypeScript under a node_modules folder. `dist` then has the layout of the
 * checkout, with JavaScript in place of TypeScript and every other file of the program unchanged.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const DIST = join(ROOT, 'dist')
const FOLDERS = ['src', 'routes', 'suites', ...globSync('packages/*/src', { cwd: ROOT })]
const FILES = ['requirements.txt', 'LICENSE']
/** Sources of what is compiled, and what only developers read; other Markdown is served. */
const LEFT_OUT = /\.ts$|^README\.md$|^__pycache__$|^assembly$|^vendor$/

rmSync(DIST, { recursive: true, force: true })
execFileSync('tsc', ['--project', join(import.meta.dirname, 'tsconfig.json')], { stdio: 'inherit' })
for (const folder of FOLDERS)
  cpSync(join(ROOT, folder), join(DIST, folder), { recursive: true, filter: (path) => !LEFT_OUT.test(basename(path)) })
for (const file of FILES) cpSync(join(ROOT, file), join(DIST, file))
for (const file of globSync('**/*.js', { cwd: DIST })) usePathsOfPackages(file)

const { name, version, license, type, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  [field: string]: unknown
}
writeFileSync(
  join(DIST, 'package.json'),
  `${JSON.stringify({ name, version, license, type, dependencies }, undefined, 2)}\n`,
)

/** The published package holds the workspaces' code in `dist/packages`: npm leaves nested node_modules folders out. */
function usePathsOfPackages(file: string): void {
  const text = readFileSync(join(DIST, file), 'utf8')
  const compiled = text.replaceAll(/'@reasoning-gym-server\/([\w-]+)\/([^']+)'/g, (_, name: string, path: string) => {
    const target = relative(dirname(file), join('packages', name, 'src', path))
    return `'${target.startsWith('.') ? '' : './'}${target}.js'`
  })
  if (compiled !== text) writeFileSync(join(DIST, file), compiled)
}
