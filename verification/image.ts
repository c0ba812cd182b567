/**
 * The Dockerfile without Docker. Its steps run in order in two Debian roots that debootstrap makes, then each role starts by the
 * image's own command, as the image's user, and must become healthy. Needs root, debootstrap and npm.
 */
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DebianRoot, toMegabytes } from './image/debian-root.ts'
import {
  type DockerInstruction,
  type DockerStage,
  parseDockerfile,
  requireLastInstruction,
} from './image/dockerfile.ts'
import { call } from './support/http.ts'

const PROJECT = join(import.meta.dirname, '..')
const MAX_IMAGE_MB = 700
const KEY = 'a-key-of-this-check'
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
  API_KEYS: `admin:${KEY}`,
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
    await running.waitUntil(async () => root.succeeds(check, user, env, '/app'))
    const healthy = seconds()
    const address = `http://127.0.0.1:${role === 'worker' ? 18001 : 18000}/readyz`
    const ask = () => call('GET', address, { key: KEY, timeoutMs: 5000 }).catch(() => undefined)
    await running.waitUntil(async () => (await ask())?.ok === true)
    const { layers } = (await ask())?.body.engine ?? {}
    const refused = Object.entries(layers).filter(([, state]) => state !== 'on')
    const walls = refused.map((each) => each.join(': ')).join(', ')
    console.log(`${role}: healthy after ${healthy} s, ready after ${seconds()} s; walls refused: ${walls || 'none'}`)
    if (role !== 'worker') await checkScore()
    console.log(`  ${running.getMemoryMb().toFixed(0)} MB of memory with all its processes`)
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

/** An item made, and its right answer scored. */
async function checkScore(): Promise<void> {
  const rollouts = [{ recipe: { task: 'leg_counting', seed: 42 }, completion: '<answer>100</answer>' }]
  const body = { rollouts, detail: 'rewards' }
  const { text } = await call('POST', 'http://127.0.0.1:18000/score', { body, key: KEY, timeoutMs: 60_000 })
  if (text !== '{"rewards":[1]}') throw new Error(`a right answer was given ${text}`)
}
