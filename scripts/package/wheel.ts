/**
 * Builds the wheel `reasoning-gym-server`, which brings the whole server: the compiled program with its production packages, the
 * Python packages that pip cannot install by itself, and the client. `dist-packages` receives it and the client's own wheel.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePythonEnvironment, requirePython } from '../../src/main/bootstrap/python/python-environment.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const OUTPUT = join(ROOT, 'dist-packages')
const STAGE = join(OUTPUT, '.wheel')
const APP = join(STAGE, 'reasoning_gym_server', 'app')
const SERVER_PROJECT = 'clients/python/server/pyproject.toml'
/** reasoning-gym demands pycosat, which needs a compiler, and cellpylib, which demands matplotlib; zss and cellpylib have no wheels. */
const VENDORED = ['cellpylib', 'reasoning-gym', 'zss']
/** Pinned for the command-line tools of dependencies: any version will do. */
const UNPINNED = ['drawsvg', 'markdown-it-py', 'mdurl', 'pygments', 'rich', 'tzdata']

await ensurePythonEnvironment(console.error)
const python = await requirePython(process.env.PYTHON)
const pins = readPins()
requireSamePins(pins)
requireSameVersions()
rmSync(STAGE, { recursive: true, force: true })
mkdirSync(APP, { recursive: true })

console.error('Compiling the server …')
run('npm', ['run', '--silent', 'build'])
for (const folder of ['bin', 'dist']) cpSync(join(ROOT, folder), join(APP, folder), { recursive: true })
const manifests = globSync('packages/*/package.json', { cwd: ROOT })
for (const file of ['package.json', 'package-lock.json', '.npmrc', ...manifests])
  cpSync(join(ROOT, file), join(APP, file))

console.error('Installing the production packages …')
run('npm', ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'], APP)
rmSync(join(APP, 'package-lock.json'))
rmSync(join(APP, '.npmrc'))
// The build has put the code of the workspaces into dist.
for (const folder of ['packages', 'node_modules/@reasoning-gym-server'])
  rmSync(join(APP, folder), { recursive: true, force: true })
prune(join(APP, 'node_modules'))

console.error('Adding the Python packages that pip cannot install …')
const vendor = join(APP, 'dist', 'src', 'engine', 'python', 'vendor')
const pip = ['-m', 'pip', '--disable-pip-version-check', '--quiet']
const requirements = join(STAGE, 'vendored.txt')
writePins(requirements)
run(python, [
  ...pip,
  'install',
  '--no-deps',
  '--no-compile',
  '--require-hashes',
  '--target',
  vendor,
  '-r',
  requirements,
])
rmSync(requirements)
rmSync(join(vendor, 'bin'), { recursive: true, force: true })

const clients = join(ROOT, 'clients', 'python')
const isSource = (path: string) => !/__pycache__|\.egg-info|\/build$/.test(path)
for (const [from, to] of [
  [join(clients, 'server'), STAGE],
  [join(clients, 'reasoning_gym_client'), join(STAGE, 'reasoning_gym_client')],
  [join(clients, 'reasoning_gym_remote.py'), join(STAGE, 'reasoning_gym_remote.py')],
  [join(ROOT, 'LICENSE'), join(STAGE, 'LICENSE')],
] as const)
  cpSync(from, to, { recursive: true, filter: isSource })

console.error('Building the wheels …')
for (const folder of [STAGE, clients])
  run(python, [...pip, 'wheel', '--no-deps', '--no-cache-dir', '--wheel-dir', OUTPUT, folder])
rmSync(STAGE, { recursive: true, force: true })
rmSync(join(clients, 'build'), { recursive: true, force: true })
for (const name of readdirSync(OUTPUT).filter((file) => file.endsWith('.whl')))
  console.log(`${join('dist-packages', name)}  ${(statSync(join(OUTPUT, name)).size / 1e6).toFixed(1)} MB`)

function run(command: string, args: string[], cwd = ROOT): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Each requirement of requirements.txt, with its hashes, by name. */
function readPins(): Map<string, { version: string; text: string }> {
  const text = readFileSync(join(ROOT, 'requirements.txt'), 'utf8')
  const entries = text.matchAll(/^([\w.-]+)==(\S+)( \\\n(?: {4}--hash=\S+(?: \\\n)?)+)/gm)
  return new Map([...entries].map(([entry, name = '', version = '']) => [name, { version, text: entry }]))
}

function writePins(path: string): void {
  const lines = VENDORED.map((name) => pins.get(name)?.text.trimEnd() ?? '')
  execFileSync('tee', [path], { input: `${lines.join('\n')}\n`, stdio: ['pipe', 'ignore', 'inherit'] })
}

/** The wheel's dependencies and the engine's pins must not drift apart: items and scores depend on them. */
function requireSamePins(wanted: Map<string, { version: string }>): void {
  const project = readFileSync(join(ROOT, SERVER_PROJECT), 'utf8')
  for (const [name, { version }] of wanted) {
    if (VENDORED.includes(name) || UNPINNED.includes(name)) continue
    if (!project.includes(`"${name}==${version}"`))
      throw new Error(`${SERVER_PROJECT} must list ${name}==${version}, as requirements.txt does`)
  }
  for (const name of VENDORED) if (!wanted.has(name)) throw new Error(`requirements.txt no longer has ${name}`)
}

function requireSameVersions(): void {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string } // npm validates it
  for (const path of [SERVER_PROJECT, 'clients/python/pyproject.toml'])
    if (!readFileSync(join(ROOT, path), 'utf8').includes(`\nversion = "${version}"\n`))
      throw new Error(`${path} must have version ${version}, as package.json does`)
}

/** Removes what only developers of the packages use. Licenses stay. */
function prune(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (isNeeded(entry.name, entry.isDirectory(), path)) {
      if (entry.isDirectory()) prune(path)
    } else rmSync(path, { recursive: true, force: true })
  }
}

function isNeeded(name: string, isFolder: boolean, path: string): boolean {
  if (isFolder) {
    if (/^(\.github|\.vscode|\.bin|\.nyc_output|coverage|__tests__|tests?|benchmarks?|bench|examples?)$/.test(name))
      return false
    // Sources in TypeScript beside the JavaScript that was made of them.
    return !/node_modules\/(openai|zod|lru-cache|@fastify\/[^/]+)\/src$/.test(path)
  }
  if (/^(licen[cs]e|notice|copying)/i.test(name)) return true
  return !/\.(map|md|markdown|d\.[cm]?ts|[cm]?ts|tsx|flow|tsbuildinfo)$|^\.(eslintrc|prettierrc|editorconfig|npmignore|taprc)|^(tsconfig.*\.json|yarn\.lock)$/.test(
    name,
  )
}
