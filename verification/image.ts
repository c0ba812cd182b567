/**
 * `npm run verify -- image`: the Dockerfile without Docker. Its steps run in order in two Debian roots that debootstrap makes, then each
 * role starts by the image's own command, as the image's user, and must become healthy. Needs root, debootstrap and npm.
 *   npm run verify -- image [--folder FOLDER] [--mirror URL] [--with FILE …] [--built]
 * `--with`: a file of this machine that the steps need to fetch packages; `--built`: the roots are there from the last time.
 */
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type ContainerProcess, DebianRoot, toMegabytes } from './image/debian-root.ts'
import {
  type DockerInstruction,
  type DockerStage,
  parseDockerfile,
  requireLastInstruction,
} from './image/dockerfile.ts'

const PROJECT = join(import.meta.dirname, '..')
const MAX_IMAGE_MB = 700
const READY_TIMEOUT_MS = 120_000
const AUTH_HEADERS = { 'x-api-key': 'a-key-of-this-check' }
const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    mirror: { type: 'string' },
    with: { type: 'string', multiple: true },
    built: { type: 'boolean' },
  },
})
const folder = values.folder ?? join(PROJECT, 'artifacts', 'image')
mkdirSync(folder, { recursive: true })

const bare = DebianRoot.bootstrap(join(folder, 'bare'), 'bookworm', values.mirror ?? 'http://deb.debian.org/debian')
const stages = parseDockerfile(readFileSync(join(PROJECT, 'Dockerfile'), 'utf8'))
const roots = new Map<string, DebianRoot>()
for (const [k, stage] of stages.entries()) {
  const path = join(folder, `stage-${k}`)
  roots.set(stage.name ?? 'image', values.built ? new DebianRoot(path) : buildStage(stage, path))
}

const image = roots.get('image')
const last = stages.at(-1)
if (!image || !last) throw new Error('the Dockerfile has no last stage')
const size = image.getDiskBytes()
console.log(`size: ${toMegabytes(size)} MB`)
for (const part of ['usr/local/bin/node', 'app/node_modules', 'app/.venv', 'app', 'usr', 'var'])
  console.log(`  ${part}: ${toMegabytes(image.getDiskBytes(part))} MB`)
if (size > MAX_IMAGE_MB * 1e6) throw new Error(`over ${MAX_IMAGE_MB} MB`)

const user = Number(requireLastInstruction(last, 'USER').value)
const entrypoint = requireLastInstruction(last, 'ENTRYPOINT').command
const check = requireLastInstruction(last, 'HEALTHCHECK').command
const env = {
  ...requireLastInstruction(last, 'ENV').values,
  API_KEYS: 'admin:a-key-of-this-check',
  PORT: '18000',
  WORKER_PORT: '18001',
}
const redis = image.start(['redis-server', '--port', '16379', '--save', '', '--dir', '/tmp'], user, {})
try {
  for (const role of ['serve', 'api', 'worker']) await checkRole(image, role)
} finally {
  await redis.stop()
}

async function checkRole(root: DebianRoot, role: string): Promise<void> {
  const own = role === 'serve' ? {} : { REDIS_URL: 'redis://127.0.0.1:16379' }
  const began = performance.now()
  const seconds = () => ((performance.now() - began) / 1000).toFixed(1)
  const running = root.start([...entrypoint, role], user, { ...env, ...own }, '/app')
  try {
    await running.waitUntil(() => root.succeeds(check, user, env, '/app'))
    const healthy = seconds()
    const walls = await waitUntilReady(role === 'worker' ? 18001 : 18000, running)
    console.log(`${role}: healthy after ${healthy} s, ready after ${seconds()} s; ${walls}`)
    if (role !== 'worker') await checkScore()
    console.log(`  ${toMegabytes(running.getResidentBytes())} MB of memory with all its processes`)
  } catch (error) {
    await running.stop()
    throw error
  }
  const code = await running.stop()
  console.log(`  ended with ${code}`)
  if (code !== 0) throw new Error(running.getOutput())
}

/** What a stage does, in a copy of the bare Debian. */
function buildStage(stage: DockerStage, path: string): DebianRoot {
  const root = bare.copy(path, stage.base.startsWith('node:') ? values.with : [])
  // The base image of the first stage is this and Node; ours comes from npm.
  if (stage.base.startsWith('node:')) root.addNode(join(PROJECT, 'node_modules', `node-linux-${process.arch}`))
  let workdir = '/'
  for (const instruction of stage.instructions) workdir = applyInstruction(root, instruction, workdir)
  return root
}

function applyInstruction(root: DebianRoot, instruction: DockerInstruction, workdir: string): string {
  if (instruction.kind === 'WORKDIR') {
    mkdirSync(root.resolvePath(instruction.value), { recursive: true })
    return instruction.value
  }
  if (instruction.kind === 'RUN') {
    console.log(`RUN ${instruction.command.slice(0, 100)}`)
    root.run(instruction.command, workdir)
  }
  if (instruction.kind === 'COPY') {
    const from = instruction.from === undefined ? undefined : roots.get(instruction.from)
    for (const source of instruction.sources) {
      const origin = from ? from.resolvePath(source) : join(PROJECT, source)
      if (!existsSync(origin)) throw new Error(`COPY ${source}: not there`)
      const target = join(instruction.target.startsWith('/') ? '/' : workdir, instruction.target)
      const named = instruction.target.endsWith('/') ? join(target, source) : target
      cpSync(origin, root.resolvePath(named), { recursive: true, verbatimSymlinks: true })
    }
  }
  return workdir
}

/** Waits until /readyz says so; which walls its hosts have. */
async function waitUntilReady(port: number, running: ContainerProcess): Promise<string> {
  const ask = () =>
    fetch(`http://127.0.0.1:${port}/readyz`, { headers: AUTH_HEADERS, signal: AbortSignal.timeout(5000) }).catch(
      () => undefined,
    )
  let answer = await ask()
  for (const end = Date.now() + READY_TIMEOUT_MS; !answer?.ok; answer = await ask()) {
    if (Date.now() > end) throw new Error(`not ready: ${await answer?.text()}\n${running.getOutput()}`)
    await sleep(200)
  }
  const { engine } = (await answer.json()) as { engine: { layers: Record<string, string> } } // as /readyz answers
  const refused = Object.entries(engine.layers).filter(([, state]) => state !== 'on')
  return refused.length === 0
    ? 'all walls stand'
    : `walls refused: ${refused.map((each) => each.join(': ')).join(', ')}`
}

/** An item made, and its right answer scored. */
async function checkScore(): Promise<void> {
  const rollouts = [{ recipe: { task: 'leg_counting', seed: 42 }, completion: '<answer>100</answer>' }]
  const answer = await fetch('http://127.0.0.1:18000/score', {
    method: 'POST',
    headers: { ...AUTH_HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify({ rollouts, detail: 'rewards' }),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await answer.text()
  if (text !== '{"rewards":[1]}') throw new Error(`a right answer was given ${text}`)
}
