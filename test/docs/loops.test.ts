/** The programs of docs/guides/synchronous-loop.md run as they are printed, on a server and a mock model. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type MockModel, startMockModel } from '../../src/mock-model/mock-model.ts'
import { buildChildEnvironment } from '../../src/platform/config.ts'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..')
const PAGE = readFileSync(join(ROOT, 'docs', 'guides', 'synchronous-loop.md'), 'utf8')
const PYTHONPATH = join(ROOT, 'clients', 'python')

let server: ChildServer
let model: MockModel
beforeAll(async () => {
  server = await startChildServer({ API_PROCESSES: '1', WORKERS: '1', PYTHON_WORKERS: '1' })
  model = await startMockModel({ server: { url: server.url }, accuracy: 0.5 })
}, 300_000)
afterAll(async () => {
  await model.close()
  await server.stop()
})

const section = (title: string) => PAGE.split(/^## /m).find((part) => part.startsWith(title)) ?? ''
const blocks = (part: string, language: string) =>
  [...part.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, code = '']) => code)
const here = (code: string) =>
  code.replaceAll('http://127.0.0.1:8000', server.url).replaceAll('http://127.0.0.1:8100/v1', model.url)

const [PREAMBLE = ''] = blocks(PAGE.split(/^## /m)[0] ?? '', 'python')

/** `before`: what stands between the page's preamble and the loop. */
async function python(title: string, before = ''): Promise<string> {
  const [program = ''] = blocks(section(title), 'python')
  expect(program).not.toBe('')
  const { stdout } = await run(inject('python'), ['-c', here(`${PREAMBLE}\n${before}\n${program}`)], {
    env: buildChildEnvironment({ PYTHONPATH }),
  })
  return stdout
}

async function shell(title: string): Promise<string> {
  const [script = ''] = blocks(section(title), 'bash')
  expect(script).not.toBe('')
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', here(script)], { maxBuffer: 32 << 20 })
  expect(stdout).not.toMatch(/"status":(4|5)\d\d/)
  return stdout
}

const OWN_POLICY_ALONE = `
printed = train

def train(batch):
    versions = {group["policy_version"] for group in batch["groups"]}
    assert versions == {batch["step"]}, f"step {batch['step']} trains on policies {versions}"
    printed(batch)
`

it('synchronous, by steps', { timeout: 120_000 }, async () => {
  const output = await python('Synchronous', OWN_POLICY_ALONE)
  const { progress } = JSON.parse((await run('curl', ['-s', `${server.url}/runs/by-steps`])).stdout)
  expect(progress).toMatchObject({ scored_groups: 24, queued_groups: 0, buffered_groups: 0, stale_groups: 0 })
  expect(output.match(/^step \d: \d+ rollouts, mean reward 0\.\d\d$/gm)).toHaveLength(3)
  expect(await shell('Synchronous')).toMatch(/"sequences":2[\s\S]*"acknowledged":true/)
})

it('asynchronous, with lag', { timeout: 120_000 }, async () => {
  const output = await python('Asynchronous')
  expect(output.match(/^step \d: \d+ rollouts, mean reward 0\.\d\d$/gm)).toHaveLength(3)
  expect(output).toMatch(/^dropped for their lag: \d+$/m)
  expect(await shell('Asynchronous')).toMatch(/"lag\/mean":1[\s\S]*"acknowledged":true/)
})

it('rewards only', { timeout: 120_000 }, async () => {
  const output = await python('Rewards only')
  expect(output.match(/^(leg_counting|chain_sum) \[(0|1|0\.\d+)(, (0|1|0\.\d+)){7}\]$/gm)).toHaveLength(4)
  const answer = JSON.parse((await shell('Rewards only')).trim())
  expect(answer.status).toBe('scored')
  expect(answer.verdicts).toHaveLength(2)
  const { progress } = JSON.parse((await run('curl', ['-s', `${server.url}/runs/alone-curl`])).stdout)
  expect(progress).toMatchObject({ scored_groups: 1, buffered_groups: 0 })
})

it('a data set from an API model', { timeout: 120_000 }, async () => {
  const { hostname } = new URL(model.url)
  expect(hostname).toBe('127.0.0.1') // which a server on loopback may call
  expect(await python('A data set')).toBe('done\n')
  const lines = (await shell('A data set')).trim().split('\n')
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ reward: 1, run: 'traces' })
})
