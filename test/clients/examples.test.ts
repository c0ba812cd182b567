import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type ChildServer, startChildServer } from '../../verification/support/with-server.ts'
import { HANGING } from '../world.ts'

const run = promisify(execFile)
const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples')

let server: ChildServer
beforeAll(async () => {
  server = await startChildServer()
}, 300_000)
afterAll(() => server.stop())

/** Runs an example as a user would, and gives what it printed. */
async function example(name: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(inject('python'), [join(EXAMPLES, name), ...args])
  return stdout
}

it('rewards only: a TRL reward function, and a run that buffers nothing', { timeout: 60_000 }, async () => {
  const rewards = /^\[(0|1|0\.\d+), 0, (0|1|0\.\d+), (0|1|0\.\d+), 0, (0|1|0\.\d+)\]$/m
  expect(await example('rewards_only.py', server.url)).toMatch(rewards)
  const again = await example('rewards_only.py', server.url) // the same completions for the same items are groups of their own
  expect(again).toMatch(rewards)
  expect(again).toContain('groups that the run has seen: 4')
  const { progress, settings, tasks } = JSON.parse(
    (await run('curl', ['-s', `${server.url}/runs/rewards-only`])).stdout,
  )
  expect(progress).toMatchObject({ items: 8, scored_groups: 4, buffered_groups: 0 })
  expect(settings).toMatchObject({ preset: 'clean', scoring: 'hardened' })
  for (const { length_p95 } of Object.values<{ length_p95: number }>(tasks)) expect(length_p95).toBeGreaterThan(2)
})

it('verl: compute_score, and prompts of a run by position', { timeout: 60_000 }, async () => {
  const output = await example('verl_compute_score.py', server.url)
  expect(output.match(/^reasoning_gym\/\w+ \S/gm)).toHaveLength(2)
  expect(output.match(/^\{'score': [\d.]+, 'unscored': 0.0, 'format_fault': 0.0\}$/gm)).toHaveLength(2)
  expect(output).toContain("held out: {'score': 0, 'unscored': 0.0, 'format_fault': 1.0}")
  const { progress } = JSON.parse((await run('curl', ['-s', `${server.url}/runs/verl`])).stdout)
  expect(progress).toMatchObject({ scored_groups: 2, buffered_groups: 0 })
})

it('what could not be scored is no wrong answer and no exception', { timeout: 60_000 }, async () => {
  const program = `
import rewards_only, verl_compute_score
item, = rewards_only.client.make("${HANGING.task}")
texts = ["<answer>${HANGING.answer}</answer>", "<answer>x</answer>"]
print(rewards_only.reward_func([item["messages"]] * 2, texts, [item["id"]] * 2, completion_ids=[[1, 2]] * 2))
print(verl_compute_score.compute_score("", texts[0], "", {"item_id": item["id"]}))`
  const env = { ...process.env, REASONING_GYM_URL: server.url, PYTHONPATH: EXAMPLES, PYTHONDONTWRITEBYTECODE: '1' }
  const { stdout } = await run(inject('python'), ['-c', program], { env })
  expect(stdout).toBe("[None, 0]\n{'score': 0.0, 'unscored': 1.0, 'format_fault': 0.0}\n")
})

it('an eval of one’s own inference engine', { timeout: 120_000 }, async () => {
  const output = await example('evaluate.py', server.url)
  expect(output).toMatch(/^frozen suites: .*original/m)
  expect(output).toContain('done: mean score 0.50, format faults 0.50')
  expect(output).toMatch(/^chain_sum +1.00 of 5$/m)
  expect(output).toMatch(/^spell_backward +0.00 of 5$/m)
})

it('two ranks train: rewards rise, the curriculum moves, every step is a batch', { timeout: 180_000 }, async () => {
  const output = await example('train.py', '--url', server.url, '--run', 'trained', '--steps', '40')
  const rows = [...output.matchAll(/^ +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+) +(\d+) +(\d+)$/gm)].map((row) =>
    row.slice(1).map(Number),
  )
  expect(rows.length).toBeGreaterThan(7)
  const [first = [], last = []] = [rows[0], rows.at(-1)]
  expect(first[1]).toBeLessThan(0.4)
  expect(last[1]).toBeGreaterThan(0.7)
  for (const level of last.slice(2, 4)) expect(level).toBeGreaterThan(0.4) // it began at 0.3
  for (const [, , , , , sequences] of rows) expect(sequences).toBeGreaterThanOrEqual(128)

  const { progress } = (await (await fetch(`${server.url}/runs/trained`)).json()) as {
    progress: Record<string, number>
  }
  expect(progress.step).toBe(39)
  expect(progress.queued_groups).toBe(0)
  expect((await fetch(`${server.url}/runs/trained/batches/39`)).status).toBe(404) // acknowledged
})

it('what ends an example is one line: a run that another training has, and a server that is none', async () => {
  const refused = example('train.py', '--url', server.url, '--run', 'Bad Name')
  await expect(refused).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^400 invalid_request: run: .*\n$/),
  })
  const training = ['--url', server.url, '--run', 'again', '--steps', '1']
  await example('train.py', ...training)
  const again = example('train.py', ...training)
  const line = 'rank \\d: (409 group_conflict: .*|another rank has ended)\\n'
  await expect(again).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(new RegExp(`^(${line}){2}$`)) })
  for (const name of ['rewards_only.py', 'verl_compute_score.py', 'evaluate.py']) {
    const lost = example(name, `${server.url}/nowhere`)
    await expect(lost).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/^404 not_found: .*\n$/) })
  }
}, 60_000)
