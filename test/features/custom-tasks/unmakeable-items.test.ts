/** Items that fail in a way that nobody foresaw: each has one code, whoever asks for it, and its group ends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../../world.ts'

/** What `__getitem__` does, by name of the task. */
const MAKERS = {
  raises: 'raise ValueError("no such maze")',
  raises_oddly: 'raise Odd()',
  nests: 'return {"question": "?", "answer": "7", "metadata": {"nested": nest(900)}}',
  asks_to_exit: 'sys.exit(3)',
  exits: 'os._exit(3)',
  loops: 'while True: pass',
  blocks_in_c: 'return 9 ** 9 ** 9',
  sleeps: 'time.sleep(10_000)',
  closes: 'os.closerange(3, 64); time.sleep(10_000)',
  returns_nothing: 'return None',
}
const TASKS = Object.keys(MAKERS)
/** Makes no item while this file exists. */
const BUSY = 'busy'
const WAITS = `
            while os.path.exists(os.path.join(os.path.dirname(__file__), "${BUSY}")): time.sleep(0.01)
            return {"question": "?", "answer": "7", "metadata": {}}`
/** On a machine so busy that a loop cannot use up its deadline, that is what the server says. */
const CODE_OF_LOOP = /^make_(failed|timeout)$/
const codeOf = (task: string) =>
  ['loops', 'blocks_in_c'].includes(task) ? expect.stringMatching(CODE_OF_LOOP) : 'make_failed'

const folder = mkdtempSync(join(tmpdir(), 'rgs-unmakeable-'))
let world: World

beforeAll(async () => {
  for (const [task, body] of Object.entries({ ...MAKERS, waits: `if True:${WAITS}` }))
    writeFileSync(
      join(folder, `${task}.py`),
      `
import os, sys, time
from dataclasses import dataclass
from reasoning_gym.factory import ProceduralDataset, register_dataset

class Odd(Exception):
    def __str__(self):
        raise self

def nest(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value

@dataclass
class Config:
    seed: int = 0
    size: int = 10

class Dataset(ProceduralDataset):
    def __init__(self, config):
        super().__init__(config=config, seed=config.seed, size=config.size)
    def __getitem__(self, index):
        ${body}

register_dataset("${task}", Dataset, Config)
`,
    )
  world = await openWorld({ worker: true, TASKS_PATH: folder, MAKE_DEADLINE_MS: 500 })
})
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

it.each(TASKS)('%s: every call answers with make_failed', async (task) => {
  const recipe = { task, seed: 1 }
  const rollouts = [{ recipe, answer: '7' }]
  const calls = await Promise.all([world.call('POST', '/items', recipe), world.call('POST', '/score', { rollouts })])
  const [items, score] = calls.map(({ body }) => body)
  expect(items.code).toEqual(codeOf(task))
  if (score.code === undefined) expect(score.verdicts).toMatchObject([{ status: 'unscored' }]) // as after make_timeout
  expect(score.code ?? 'make_timeout').toEqual(codeOf(task))
})

it('a sample whose item is made again waits for it, and is no reward if that takes too long', {
  timeout: 60_000,
}, async () => {
  const busy = join(folder, BUSY)
  writeFileSync(busy, '')
  const engine = world.engine.versionOf('waits')
  const item_id = encodeItemId({ task: 'waits', config: {}, difficulty: null, seed: 2, index: 0, engine })
  const samples = [{ item_id, completion: '<answer>7</answer>' }]
  const [late, masked] = await Promise.all([
    world.call('POST', '/samples', { samples, unscored: 'mean' }),
    world.call('POST', '/samples', { samples }),
  ])
  expect([late.status, late.body.code]).toEqual([503, 'make_timeout'])
  expect(late.headers['retry-after']).toBeDefined()
  expect(masked.body).toMatchObject({ rewards: [null], verdicts: [{ code: 'make_timeout' }] })
  const held = world.call('POST', '/slime/rm', { label: item_id, response: '<answer>7</answer>' })
  await new Promise((resolve) => setTimeout(resolve, 1500)) // longer than the deadline for an item
  rmSync(busy)
  expect((await held).body).toBe(1)
})

it('their groups end as failed, and the next item of the same worker is made', { timeout: 180_000 }, async () => {
  await world.call('PUT', '/runs/unmakeable', {})
  const posted = await Promise.all(
    TASKS.map(async (task) => {
      const rollouts = [{ completion: '<answer>7</answer>' }, { completion: 'none' }]
      const engine = world.engine.versionOf(task)
      const item_id = encodeItemId({ task, config: {}, difficulty: null, seed: 2, index: 0, engine })
      return world.call('POST', '/rollouts', { run: 'unmakeable', group_id: task, item_id, rollouts })
    }),
  )
  expect(posted.map(({ status }) => status)).toEqual(TASKS.map(() => 202))
  await until(
    async () => (await world.call('GET', '/runs/unmakeable')).body.progress,
    ({ failed_groups }) => failed_groups === TASKS.length,
    50_000,
  )
  for (const task of TASKS) {
    const { body } = await world.call('GET', `/runs/unmakeable/groups/${task}`)
    expect(body).toMatchObject({ status: 'failed', code: codeOf(task) })
  }
  expect((await world.call('POST', '/items', { task: 'chain_sum', seed: 4 })).status).toBe(200)
})
