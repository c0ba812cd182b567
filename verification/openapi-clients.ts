/**
 * Lints the OpenAPI document of a running server with Spectral, generates clients from it with three generators, type-checks a
 * program for each of them, and runs it against the server. Installs the tools with their versions below in
 * artifacts/openapi-clients; needs the package registries the first time.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { withScriptServer } from './support/with-server.ts'

const NPM_PACKAGES = {
  '@hey-api/openapi-ts': '0.95.0',
  '@stoplight/spectral-cli': '6.16.3',
  '@types/node': '24.19.2',
  'openapi-fetch': '0.17.0',
  'openapi-typescript': '7.13.0',
  typescript: '5.9.3',
}
const PYTHON_PACKAGES = ['openapi-python-client==0.29.1', 'ruff==0.17.6', 'mypy==2.4.1']
/** Names that a generator makes up where the document gives none. */
const MADE_UP_NAME = /(?:OneOf|AnyOf|Inline|Type)\d+|Response200|(?<!Response|Verdict)\d$/

const SOURCES = join(import.meta.dirname, 'openapi-clients')
const FOLDER = join(import.meta.dirname, '..', 'artifacts', 'openapi-clients')
const PYTHON_BIN = join(FOLDER, 'venv', 'bin')

const { values } = parseArgs({ options: { url: { type: 'string' } } })

installTools()
await withScriptServer(values.url, async (url) => {
  const document = await (await fetch(`${url}/openapi.json`)).text()
  writeFileSync(join(FOLDER, 'openapi.json'), document)
  console.log(`openapi.json: ${document.length} characters`)
  run('npx', ['spectral', 'lint', 'openapi.json', '--ruleset', join(SOURCES, 'spectral.yaml')])
  generateClients()
  checkNames()
  run('npx', ['tsc', '--project', '.'])
  run(join(PYTHON_BIN, 'mypy'), ['--strict', '--follow-imports=silent', 'smoke.py'])
  for (const program of ['openapi-fetch.js', 'hey-api.js']) run(process.execPath, [join('dist', program), url])
  run(join(PYTHON_BIN, 'python'), ['smoke.py', url])
})

function installTools(): void {
  mkdirSync(FOLDER, { recursive: true })
  const pins = JSON.stringify({ private: true, type: 'module', dependencies: NPM_PACKAGES, python: PYTHON_PACKAGES })
  const manifest = join(FOLDER, 'package.json')
  const mark = join(FOLDER, 'installed.json')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === pins) return
  writeFileSync(manifest, pins) // without it, npm would install into the project
  run('npm', ['install', '--no-audit', '--no-fund'])
  rmSync(join(FOLDER, 'venv'), { recursive: true, force: true })
  run('python3', ['-m', 'venv', 'venv'])
  run(join(PYTHON_BIN, 'pip'), ['install', '--quiet', ...PYTHON_PACKAGES])
  writeFileSync(mark, pins)
}

function generateClients(): void {
  run('npx', ['openapi-typescript', 'openapi.json', '--output', 'schema.d.ts'])
  run('npx', ['openapi-ts', '--input', 'openapi.json', '--output', 'hey-api', '--client', '@hey-api/client-fetch'])
  const python = ['generate', '--path', 'openapi.json', '--output-path', 'client', '--meta', 'none', '--overwrite']
  run(join(PYTHON_BIN, 'openapi-python-client'), python)
  for (const program of ['openapi-fetch.ts', 'hey-api.ts', 'smoke.py'])
    copyFileSync(join(SOURCES, program), join(FOLDER, program))
  const compilerOptions = {
    strict: true,
    outDir: 'dist',
    target: 'esnext',
    module: 'nodenext',
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    types: ['node'],
  }
  const files = ['openapi-fetch.ts', 'hey-api.ts']
  writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
}

function checkNames(): void {
  const types = readFileSync(join(FOLDER, 'hey-api', 'types.gen.ts'), 'utf8').matchAll(/^export type (\w+)/gm)
  const models = readFileSync(join(FOLDER, 'client', 'models', '__init__.py'), 'utf8').matchAll(/^ {4}"(\w+)",$/gm)
  const madeUp = [...types, ...models].map(([, name = '']) => name).filter((name) => MADE_UP_NAME.test(name))
  if (madeUp.length > 0) throw new Error(`The document leaves these types without a name: ${madeUp.join(', ')}`)
}

function run(command: string, args: string[]): void {
  console.log(`\n> ${[command, ...args].join(' ')}`)
  const PATH = `${PYTHON_BIN}${delimiter}${process.env.PATH ?? ''}`
  execFileSync(command, args, { cwd: FOLDER, stdio: 'inherit', env: { ...process.env, PATH } })
}
