/**
 * Lints the OpenAPI document of a running server with Spectral, generates a client from it, type-checks a program for the client and
 * runs it against the server. Installs the tools in artifacts/openapi-clients; needs the package registry the first time.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { withScriptServer } from './support/with-server.ts'

const PACKAGES = {
  '@hey-api/openapi-ts': '0.95.0',
  '@stoplight/spectral-cli': '6.16.3',
  '@types/node': '24.19.2',
  typescript: '5.9.3',
}
/** The document has no `info.contact`: there is no address to write to. */
const RULESET = "extends: ['spectral:oas']\nrules:\n  info-contact: off\n"
const COMPILER_OPTIONS = {
  strict: true,
  outDir: 'dist',
  target: 'esnext',
  module: 'nodenext',
  rewriteRelativeImportExtensions: true,
  skipLibCheck: true,
  types: ['node'],
}
/** Names that a generator makes up where the document gives none. */
const MADE_UP_NAME = /(?:OneOf|AnyOf|Inline|Type)\d+|Response200|(?<!Response|Verdict)\d$/
const PROGRAM = 'hey-api.ts'
const FOLDER = join(import.meta.dirname, '..', 'artifacts', 'openapi-clients')

const { values } = parseArgs({ options: { url: { type: 'string' } } })
mkdirSync(FOLDER, { recursive: true })
installTools()
await withScriptServer(values.url, async (url) => {
  write('openapi.json', await (await fetch(`${url}/openapi.json`)).text())
  write('spectral.yaml', RULESET)
  run('npx', ['spectral', 'lint', 'openapi.json', '--ruleset', 'spectral.yaml'])
  run('npx', ['openapi-ts', '--input', 'openapi.json', '--output', 'hey-api', '--client', '@hey-api/client-fetch'])
  checkNames()
  copyFileSync(join(import.meta.dirname, 'openapi-clients', PROGRAM), join(FOLDER, PROGRAM))
  write('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: [PROGRAM] }))
  run('npx', ['tsc', '--project', '.'])
  run(process.execPath, [join('dist', 'hey-api.js'), url])
})

function installTools(): void {
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: PACKAGES })
  const mark = join(FOLDER, 'installed.json')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === manifest) return
  write('package.json', manifest) // without it, npm would install into the project
  run('npm', ['install', '--no-audit', '--no-fund'])
  writeFileSync(mark, manifest)
}

function checkNames(): void {
  const types = readFileSync(join(FOLDER, 'hey-api', 'types.gen.ts'), 'utf8').matchAll(/^export type (\w+)/gm)
  const madeUp = [...types].map(([, name = '']) => name).filter((name) => MADE_UP_NAME.test(name))
  if (madeUp.length > 0) throw new Error(`The document leaves these types without a name: ${madeUp.join(', ')}`)
}

function write(name: string, text: string): void {
  writeFileSync(join(FOLDER, name), text)
}

function run(command: string, args: string[]): void {
  console.log(`\n> ${[command, ...args].join(' ')}`)
  execFileSync(command, args, { cwd: FOLDER, stdio: 'inherit' })
}
