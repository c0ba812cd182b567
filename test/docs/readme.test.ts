/** The blocks of the README run as printed, on a server in this process and a mock model, and print what it shows. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type MockModel, startMockModel } from '@reasoning-gym-server/mock-model/mock-model'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { buildChildEnvironment } from '../../src/platform/installation.ts'
import { openWorld, type World } from '../world.ts'
import { patternOf } from './printed-output.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const runFile = promisify(execFile)
const MAX_LINES = 110

const blocksOf = (language: string) =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code)

let world: World
let url: string
let model: MockModel
beforeAll(async () => {
  world = await openWorld({ worker: true })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
  model = await startMockModel({ server: { url }, accuracy: 0.6 })
})
afterAll(async () => {
  await model.close()
  await world.close()
})

async function run(code: string): Promise<string> {
  const npx = `npx() { [ "$1" = reasoning-gym-server ] && shift && node '${join(ROOT, 'bin', 'reasoning-gym-server.js')}' "$@"; }`
  const script = code.replaceAll('http://127.0.0.1:8000', url).replaceAll('http://127.0.0.1:8100/v1', model.url)
  const env = buildChildEnvironment({ PATH: process.env.PATH ?? '', REASONING_GYM_URL: url })
  return (await runFile('bash', ['-euo', 'pipefail', '-c', `${npx}\n${script}`], { cwd: ROOT, env })).stdout
}

it('an eval and a score print what the README shows', async () => {
  const [score = '', evaluate = '', ...others] = blocksOf('bash')
  expect(others).toEqual([])
  expect(await run(evaluate)).toMatch(patternOf(`${blocksOf('text').join('')}…\n`))
  expect(await run(score)).toBe(/^# (.*)$/m.exec(score)?.[1])
})

it('the program for TRL configures its run, and is Python; npm run trainers -- trl runs it', async () => {
  const [program = '', ...others] = blocksOf('py')
  expect(others).toEqual([])
  const configure = program.split('\n').filter((line) => /^from reasoning_gym_client import|^Client\(\)/.test(line))
  const check = `import ast, sys; ast.parse(sys.argv[1]); exec(sys.argv[2])`
  const env = buildChildEnvironment({ PYTHONPATH: join(ROOT, 'clients', 'python'), REASONING_GYM_URL: url })
  await runFile(inject('python'), ['-c', check, program, configure.join('\n')], { env })
  const settings = ((await (await fetch(new URL('/runs/first', url))).json()) as { settings: unknown }).settings
  expect(settings).toMatchObject({ complexity_mode: 'frontier', group_size: 8, buffer: false })
})

it(`the README has at most ${MAX_LINES} lines`, () =>
  expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(MAX_LINES))
