/**
 * `npm run image`: the Dockerfile without Docker. Its steps run in order in two Debian roots that debootstrap makes, then each
 * role starts by the image's own command, as the image's user, and must become healthy. Needs root, debootstrap and npm.
 *   npm run image -- [--folder FOLDER] [--mirror URL] [--with FILE …, of this machine, for the steps that fetch]
 */
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Instruction, lastOf, readDockerfile, type Stage } from './image/dockerfile.ts'
import { megabytes, Root } from './image/root.ts'

const PROJECT = join(import.meta.dirname, '..')
const LIMIT_MB = 700
const { values } = parseArgs({
  options: { folder: { type: 'string' }, mirror: { type: 'string' }, with: { type: 'string', multiple: true } },
})
const folder = values.folder ?? join(PROJECT, 'artifacts', 'image')
mkdirSync(folder, { recursive: true })

const bare = Root.bootstrap(join(folder, 'bare'), 'bookworm', values.mirror ?? 'http://deb.debian.org/debian')
const stages = readDockerfile(readFileSync(join(PROJECT, 'Dockerfile'), 'utf8'))
const roots = new Map<string, Root>()
for (const [k, stage] of stages.entries()) roots.set(stage.name ?? 'image', make(stage, join(folder, `stage-${k}`)))

const image = roots.get('image')
const last = stages.at(-1)
if (!image || !last) throw new Error('the Dockerfile has no last stage')
const size = image.bytes()
console.log(`size: ${megabytes(size)} MB`)
for (const part of ['usr/local/bin/node', 'app/node_modules', 'app/.venv', 'app', 'usr', 'var'])
  console.log(`  ${part}: ${megabytes(image.bytes(part))} MB`)
if (size > LIMIT_MB * 1e6) throw new Error(`over ${LIMIT_MB} MB`)

const user = Number(lastOf(last, 'USER').value)
const entrypoint = lastOf(last, 'ENTRYPOINT').command
const check = lastOf(last, 'HEALTHCHECK').command
const env = {
  ...lastOf(last, 'ENV').values,
  API_KEYS: 'admin:a-key-of-this-check',
  PORT: '18000',
  WORKER_PORT: '18001',
}
const redis = image.start(['redis-server', '--port', '16379', '--save', '', '--dir', '/tmp'], user, {})
for (const role of ['serve', 'api', 'worker']) {
  const own = role === 'serve' ? {} : { REDIS_URL: 'redis://127.0.0.1:16379' }
  const began = performance.now()
  const running = image.start([...entrypoint, role], user, { ...env, ...own }, '/app')
  await running.until(() => image.try(check, user, env, '/app'))
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const report = role === 'worker' ? '' : await session()
  const memory = megabytes(running.residentBytes())
  const code = await running.stop()
  console.log(
    `${role}: healthy after ${seconds} s, ${memory} MB resident with all its processes${report}; ended with ${code}`,
  )
  if (code !== 0) throw new Error(running.output())
}
await redis.stop()

/** What a stage does, in a copy of the bare Debian. */
function make(stage: Stage, path: string): Root {
  const root = bare.copy(path, stage.base.startsWith('node:') ? values.with : [])
  // The base image of the first stage is this and Node; ours comes from npm.
  if (stage.base.startsWith('node:')) root.addNode(join(PROJECT, 'node_modules', `node-linux-${process.arch}`))
  let workdir = '/'
  for (const instruction of stage.instructions) workdir = follow(root, instruction, workdir)
  return root
}

function follow(root: Root, instruction: Instruction, workdir: string): string {
  if (instruction.kind === 'WORKDIR') {
    mkdirSync(root.at(instruction.value), { recursive: true })
    return instruction.value
  }
  if (instruction.kind === 'RUN') {
    console.log(`RUN ${instruction.command.slice(0, 100)}`)
    root.run(instruction.command, workdir)
  }
  if (instruction.kind === 'COPY') {
    const from = instruction.from === undefined ? undefined : roots.get(instruction.from)
    for (const source of instruction.sources) {
      const origin = from ? from.at(source) : join(PROJECT, source)
      if (!existsSync(origin)) throw new Error(`COPY ${source}: not there`)
      const target = join(instruction.target.startsWith('/') ? '/' : workdir, instruction.target)
      const named = instruction.target.endsWith('/') ? join(target, source) : target
      cpSync(origin, root.at(named), { recursive: true, verbatimSymlinks: true })
    }
  }
  return workdir
}

/** An item made and scored: the engine is whole. */
async function session(): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-api-key': 'a-key-of-this-check' }
  const rollouts = [{ recipe: { task: 'leg_counting', seed: 42 }, completion: '<answer>100</answer>' }]
  const answer = await fetch('http://127.0.0.1:18000/score', {
    method: 'POST',
    headers,
    body: JSON.stringify({ rollouts, detail: 'rewards' }),
    signal: AbortSignal.timeout(60_000),
  })
  const { rewards } = (await answer.json()) as { rewards: number[] } // as /score answers
  if (rewards[0] !== 1) throw new Error(`a right answer was given ${rewards[0]}`)
  const ready = await fetch('http://127.0.0.1:18000/readyz', { signal: AbortSignal.timeout(10_000) })
  const { engine } = (await ready.json()) as { engine: { layers: Record<string, string> } } // as /readyz answers
  const refused = Object.entries(engine.layers).filter(([, state]) => state !== 'on')
  return `, scores; walls: ${refused.length === 0 ? 'all on' : refused.map((each) => each.join(' ')).join(', ')}`
}
