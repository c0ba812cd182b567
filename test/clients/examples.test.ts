import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { HANGING, openWorld, type World } from '../world.ts'

vi.setConfig({ testTimeout: 180_000 }) // on a busy machine, an answer that hangs takes eight times its deadline

const run = promisify(execFile)
const CLIENT = join(import.meta.dirname, '..', '..', 'clients', 'python')
const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples')

let world: World
let url: string
beforeAll(async () => {
  world = await openWorld({ worker: true, SCORE_DEADLINE_MS: 3000 })
  url = await world.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world.close())

/** Runs an example as a user would, and gives what it printed. */
async function example(name: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(inject('python'), [join(EXAMPLES, name), ...args])
  return stdout
}

/** Runs a program that imports the files for trainers. */
async function integration(program: string): Promise<string> {
  const env = { ...process.env, REASONING_GYM_URL: url, PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1' }
  return (await run(inject('python'), ['-c', program], { env })).stdout
}

it('the files of TRL and verl: rewards, and prompts of a run by position', async () => {
  const output = await integration(`
import asyncio
from reasoning_gym_client import Client
from reasoning_gym_client.integrations import rg_trl, rg_verl
run = Client().run("files")
run.put(preset="clean", tasks=["leg_counting", "chain_sum"], group_size=2, buffer=False, feedback="rule")
first, second = run.positions(per_step=2).take([0, 1])
ids, texts = [first["id"]] * 2 + [second["id"]] * 2, ["I do not know", [{"role": "assistant", "content": "no idea"}]] * 2
for _ in range(2):  # the same completions for the same items are groups of their own
    print(rg_trl.reward([None] * 4, texts, [[5, 7, 2]] * 4, item_id=ids, run=["files"] * 4))
print(set(rg_trl.reward.feedback), len(rg_trl.reward.feedback))
row = rg_verl.LivePrompts("files", config={"train_batch_size": 2})[0]
print(row["extra_info"]["item_id"] == first["id"], row["raw_prompt"] == first["messages"], row["extra_info"]["run"])
held_out = rg_verl.LivePrompts(["held-out"], config={"train_files": ["files"]}, max_samples=1)[0]
print(asyncio.run(rg_verl.compute_score(held_out["data_source"], "I do not know", "", held_out["extra_info"])))
print(run.get()["progress"]["scored_groups"], run.get()["progress"]["buffered_groups"])
class Recording:  # the run that each response is sent to
    runs, client = [], rg_verl._client()
    def sample(self, item_id, text, run, **details):
        self.runs.append(run)
        return self.client.sample(item_id, text, run=run, **details)
rg_verl._client = Recording
for split in ("train", "test"):  # of rows from files
    asyncio.run(rg_verl.compute_score("", "", "", {"item_id": first["id"], "split": split}, run="files"))
asyncio.run(rg_verl.compute_score("", "", "", held_out["extra_info"]))  # by the rules of the run
print(Recording.runs)`)
  const faults =
    "{'score': 0.0, 'no_answer': 1.0, 'correct': 0.0, 'format': 0.0, 'length_penalty': 0.0, 'try_discount': 0.0}"
  const feedback = "{'The reply has no <answer>…</answer> after the thinking.'} 4"
  const lines = [
    '[0, 0, 0, 0]',
    '[0, 0, 0, 0]',
    feedback,
    'True True files',
    faults,
    '4 0',
    "['files', None, 'files']",
    '',
  ]
  expect(output.split('\n')).toEqual(lines)
})

it('what could not be scored is None to TRL, and raised to verl, which masks it', async () => {
  const output = await integration(`
import asyncio
from reasoning_gym_client import Client
from reasoning_gym_client.integrations import rg_trl, rg_verl
item, = Client().make("${HANGING.task}")
texts = ["<answer>${HANGING.answer}</answer>", "<answer>x</answer>"]
print(rg_trl.reward([None] * 2, texts, item_id=[item["id"]] * 2))
for text, item_id in [(texts[0], item["id"]), ("", "no-such-item")]:
    try:
        print(asyncio.run(rg_verl.compute_score("", text, "", {"item_id": item_id})))
    except Exception as error:
        print(type(error).__name__, error)`)
  const [rewards, hanging, damaged] = output.split('\n')
  expect(rewards).toBe('[None, 0]')
  expect(hanging).toContain('Unscored scorer_timeout: no result within 3000 ms') // on a busy machine: of a processor
  expect(damaged).toContain('invalid_item_id')
})

it('a process of SDPO with a part of a group gets the mean of the whole group for what could not be scored', async () => {
  const output = await integration(`
import os
from concurrent.futures import ThreadPoolExecutor
from reasoning_gym_client import Client
from reasoning_gym_client.integrations import rg_trl
item, = Client().make("${HANGING.task}", seed=2)
right = "<answer>" + Client().item(item["id"], reveal=True)["answer"] + "</answer>"
Client().run("parts").put(group_size=4)
os.environ["WORLD_SIZE"] = "2"
def reward(texts):
    return rg_trl.reward([None] * 2, texts, item_id=[item["id"]] * 2, run=["parts"] * 2, trainer_state=None)
parts = [["<answer>${HANGING.answer}</answer>", "x"], [right, right]]
print(list(ThreadPoolExecutor().map(reward, parts)))`)
  expect(output).toBe('[[0.6666666666666666, 0], [1, 1]]\n')
})

it('slime removes from the loss what could not be scored, with a mean of real rewards', async () => {
  const output = await integration(`
import asyncio, os
from types import SimpleNamespace
from reasoning_gym_client import Client
from reasoning_gym_client.integrations import rg_slime
item, = Client().make("${HANGING.task}")
right = "<answer>" + Client().item(item["id"], reveal=True)["answer"] + "</answer>"
Client().run("slime").put(group_size=4)
def reward(run, *texts):
    os.environ["REASONING_GYM_RUN"] = run
    samples = [SimpleNamespace(label=item["id"], response=text, response_length=1, status=None, metadata={}, remove_sample=text == "")
        for text in texts]
    try:
        print(asyncio.run(rg_slime.group_reward(None, samples)), [int(sample.remove_sample) for sample in samples])
    except Exception as error:
        print(type(error).__name__)
hangs = "<answer>${HANGING.answer}</answer>"
reward("slime", right, "<answer>x</answer>", hangs, "")  # "": removed by what generated it
reward("slime", hangs, hangs)
rg_slime._run = lambda: None
reward("", hangs)`)
  expect(output.split('\n')).toEqual(['[1, 0, 0.5, 0.5] [0, 0, 1, 1]', '[0.5, 0.5] [1, 1]', 'Unscored', ''])
})

it('rewards.py gives each item a 1 beside two 0', async () => {
  const output = await example('rewards.py', '--url', url)
  expect(output.match(/reward 1: <answer>/g)).toHaveLength(3)
  expect(output.match(/reward 0: /g)).toHaveLength(6)
})

it('an eval of one’s own inference engine', async () => {
  const output = await example('evaluate.py', '--url', url)
  expect(output).toMatch(/^frozen suites: .*original/m)
  expect(output).toContain('done: mean score 0.50, format faults 0.50')
  expect(output).toMatch(/^chain_sum +1.00, the mean of 5 items$/m)
  expect(output).toMatch(/^spell_backward +0.00, the mean of 5 items$/m)
})

it('a bandit that steers the mix of a live run teaches a model more than plain weights', async () => {
  const output = await example('steer.py', '--url', url, '--run', 'steer')
  const [, plain = 0, steered = 0] = /accuracy at the end: ([\d.]+) plain, ([\d.]+) steered/.exec(output) ?? []
  expect(Number(steered)).toBeGreaterThan(Number(plain) + 0.05)
  const [, before = 1, after = 0] = /signal: ([\d.]+) plain, ([\d.]+) steered/.exec(output) ?? []
  expect(Number(after)).toBeGreaterThan(1.3 * Number(before))
  const { mixes } = (await (await fetch(`${url}/runs/steer-steered/mixes`)).json()) as { mixes: unknown[] }
  expect(mixes).toHaveLength(21)
})

it('two ranks train: rewards rise, the curriculum moves, every step is a batch', async () => {
  const output = await example('train.py', '--url', url, '--run', 'trained', '--steps', '40')
  const rows = [...output.matchAll(/^ +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +(\d+) +(\d+) +(\d+)$/gm)].map((row) =>
    row.slice(1).map(Number),
  )
  expect(rows.length).toBeGreaterThan(7)
  const [first = [], last = []] = [rows[0], rows.at(-1)]
  expect(first[1]).toBeLessThan(0.4)
  expect(last[1]).toBeGreaterThan(0.7)
  for (const level of last.slice(2, 4)) expect(level).toBeGreaterThan(0.4) // it began at 0.3
  for (const [, , , , , rollouts] of rows) expect(rollouts).toBeGreaterThanOrEqual(128)

  const { progress } = (await (await fetch(`${url}/runs/trained`)).json()) as {
    progress: Record<string, number>
  }
  expect(progress.step).toBe(39)
  expect(progress.queued_groups).toBe(0)
  expect((await fetch(`${url}/runs/trained/batches/39`)).status).toBe(404) // acknowledged
})

it('what ends an example is one line: a run that another training has, and a server that is none', async () => {
  const refused = example('train.py', '--url', url, '--run', 'Bad Name')
  await expect(refused).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^400 invalid_request: run: .*\n$/),
  })
  const training = ['--url', url, '--run', 'again', '--steps', '1']
  await example('train.py', ...training)
  const again = example('train.py', ...training)
  const line = 'rank \\d: (409 group_conflict: .*|stopped because another rank failed)\\n'
  await expect(again).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(new RegExp(`^(${line}){2}$`)) })
  const lost = example('evaluate.py', '--url', `${url}/nowhere`)
  await expect(lost).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/^404 not_found: .*\n$/) })
})
