/** Tasks from TASKS_PATH are served like those of the library. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, takeItems, until, type World } from '../../world.ts'

const FIXTURES = new URL('../../fixtures/custom-tasks', import.meta.url).pathname
const folder = mkdtempSync(join(tmpdir(), 'rgs-custom-tasks-'))
const logged: string[] = []
let world: World

/** A task whose answer is always 7, with what `body` adds to its dataset class. */
function writeTask(name: string, { body = '', curriculum = '' } = {}): void {
  writeFileSync(
    join(folder, `${name}.py`),
    `
import time
from dataclasses import dataclass
from reasoning_gym.coaching import BaseCurriculum, ScalarAttributeDefinition
from reasoning_gym.factory import ProceduralDataset, register_dataset

@dataclass
class Config:
    level: int = 0
    seed: int = 0
    size: int = 10
    def validate(self):
        assert self.level < 5, "level must be below 5"

class Dataset(ProceduralDataset):
    def __init__(self, config):
        super().__init__(config=config, seed=config.seed, size=config.size)
    def __getitem__(self, index):
        return {"question": f"What is {self.config.level} + 7 - {self.config.level}? {self.seed}", "answer": "7", "metadata": {}}
${body}

class Curriculum(BaseCurriculum):
    def __init__(self):
        super().__init__("Curriculum", Config)
        self._define_attributes(ScalarAttributeDefinition(name="level", levels=${curriculum || '[0, 1]'}, field_name="level"))

register_dataset("${name}", Dataset, Config, Curriculum)
`,
  )
}

const OWN_WORDS = `
    @staticmethod
    def explain_answer(question, answer):
        if answer == "sleep":
            time.sleep(60)
        if answer == "raise":
            raise ValueError
        return f"{answer} is no digit, as {question[:11]} needs." if not answer.isdigit() else None
`

beforeAll(async () => {
  writeTask('own_seven')
  writeFileSync(
    join(folder, 'own_seven.scorer.js'),
    `export default {
      own_seven(answer) {
        while (answer === 'loop');
        if (answer === 'throw') throw new Error('no')
        return answer === 'text' ? 'text' : Number(answer === '7')
      },
    }`,
  )
  writeTask('own_words', { body: OWN_WORDS })
  writeTask('own_wrong_oracle', { body: '    def score_answer(self, answer, entry):\n        return 0.5' })
  writeTask('own_invalid_level', { curriculum: '[0, 9]' })
  writeTask('chain_sum')
  world = await openWorld({ worker: true, TASKS_PATH: `${FIXTURES}:${folder}`, onLog: (line) => logged.push(line) })
})
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('the catalog', () => {
  it('lists custom tasks with their code and description', async () => {
    const { body } = await world.call('GET', '/tasks?category=custom')
    const names = body.tasks.map(({ name }: { name: string }) => name)
    expect(names.toSorted()).toEqual([
      'missing_number',
      'own_invalid_level',
      'own_seven',
      'own_words',
      'own_wrong_oracle',
      'word_count',
    ])
    const task = body.tasks.find(({ name }: { name: string }) => name === 'word_count')
    expect(task).toMatchObject({
      description: 'Count how often a word appears in a line of words.',
      scorer: 'library',
      adjustable: true,
      rungs: 5,
      code_hash: expect.stringMatching(/^[0-9a-f]{12}$/),
    })
  })

  const requireTask = async (task: string) => {
    const { body } = await until(
      () => world.call('GET', `/tasks/${task}`),
      ({ status }) => status !== 503, // the ladder is verified by making items, for which a busy machine takes long
    )
    return body
  }

  it('has the config schema, the verified ladder and an example', async () => {
    const body = await requireTask('word_count')
    expect(body.config_schema.properties.words).toMatchObject({
      type: 'integer',
      default: 10,
      minimum: 1,
      maximum: 500,
    })
    expect(body.ladder.map(({ config }: { config: object }) => config)).toEqual([
      { words: 5 },
      {},
      { words: 20 },
      { words: 50 },
      { words: 100 },
    ])
    expect(body.not_adjustable).toBeNull()
    expect(body.example.question).toContain('How often does')
  })

  it('gives no ladder to a task whose levels cannot be used, and says why', async () => {
    const reason = async (task: string) => (await requireTask(task)).not_adjustable
    expect(await reason('own_wrong_oracle')).toContain('its own answer scores 0.5 instead of scoring 1.0')
    expect(await reason('own_invalid_level')).toContain('level must be below 5')
  })

  it('reports a module that ends its worker, and serves the tasks of the library', async () => {
    const place = mkdtempSync(join(tmpdir(), 'rgs-custom-crash-'))
    writeFileSync(join(place, 'crashes.py'), 'import os\nos._exit(1)\n')
    const lines: string[] = []
    const crashing = await openWorld({ TASKS_PATH: place, onLog: (line) => lines.push(line) })
    expect((await crashing.call('GET', '/tasks')).body).toMatchObject({ source: 'registry', total: 105 })
    await expect
      .poll(() => lines.find((line) => line.includes('gives no task')))
      .toEqual(expect.stringContaining('a Python worker ends'))
    expect((await crashing.call('POST', '/items', { task: 'chain_sum', seed: 1 })).status).toBe(200)
    const missing = await crashing.call('GET', '/tasks/bus_passengers')
    expect(missing.body.detail).toContain('gives no task: a Python worker ends')
    await crashing.close()
    rmSync(place, { recursive: true })
  })

  it('reports a name that the library has with the file, and serves the library’s task', async () => {
    const line = logged.find((text) => text.includes('gives no task'))
    expect(line).toContain('chain_sum.py')
    expect(line).toContain('in the library')
    expect((await world.call('GET', '/tasks/chain_sum')).body.code_hash).toBeNull()
  })
})

describe('an item', () => {
  it('is made, scored and trained on like one of the library', async () => {
    await world.call('PUT', '/runs/own', { tasks: ['word_count'], complexity_mode: 'curriculum' })
    const [item] = await takeItems(world, 'own', 1)
    const { id = '', question = '' } = item ?? {}
    const [, word = '', line = ''] = /does (\w+) appear in this line\? (.*)/.exec(question) ?? []
    const count = line.split(' ').filter((one) => one === word).length
    const rollouts = [count, count + 1].map((answer) => ({ completion: `<answer>${answer}</answer>` }))
    const { body: group } = await world.call(
      'POST',
      '/rollouts',
      { run: 'own', item_id: id, rollouts },
      { prefer: 'wait=20' },
    )
    expect(group).toMatchObject({
      status: 'scored',
      verdicts: [{ score: 1 }, { score: expect.toSatisfy((s) => s < 1) }],
    })
  })

  it('is scored by the file beside the task, as the Python scorer scores it', async () => {
    expect((await world.call('GET', '/tasks/missing_number')).body.scorer).toBe('native')
    const { body } = await world.call('POST', '/items', { task: 'missing_number', seed: 3 })
    const [{ id, recipe }] = body.items
    const { entry } = await world.features.items.items.getOrCreate([recipe]).then(([item]) => item as never)
    const right = (entry as { answer: string }).answer
    const answers = [right, ` ${right} `, `+${right}`, 'x', '1'.repeat(60)]
    const rollouts = answers.map((answer) => ({ item_id: id, answer }))
    const score = async () =>
      (await world.call('POST', '/score', { rollouts, scoring: 'upstream' })).body.verdicts.map(
        (verdict: { score: number }) => verdict.score,
      )
    expect(await score()).toEqual([1, 1, 0, 0, 0])
    const python = await world.engine.score('missing_number', {}, 3, entry, answers)
    expect(python.map((outcome) => outcome.kind === 'value' && outcome.value)).toEqual([1, 1, 0, 0, 0])
  })

  it('is unscored where the file beside the task takes too long or fails', async () => {
    const { body } = await world.call('POST', '/items', { task: 'own_seven', seed: 2 })
    const rollouts = ['7', 'loop', 'throw', 'text'].map((answer) => ({ item_id: body.items[0].id, answer }))
    const { verdicts } = (await world.call('POST', '/score', { rollouts, scoring: 'upstream' })).body
    expect(verdicts).toMatchObject([
      { score: 1 },
      { status: 'unscored', code: 'scorer_timeout' },
      { score: 0 },
      { status: 'unscored', code: 'scorer_crashed' },
    ])
  })

  it('has feedback by the explain_answer of its class, and none where that fails', async () => {
    const { body } = await world.call('POST', '/items', { task: 'own_words', seed: 2 })
    const rollouts = ['7', 'x', '8', 'raise', 'sleep'].map((answer) => ({ item_id: body.items[0].id, answer }))
    const score = async (feedback: string) =>
      (await world.call('POST', '/score', { rollouts, feedback })).body.verdicts.map(
        (verdict: { feedback?: object }) => verdict.feedback,
      )
    const wrong = { kind: 'wrong', text: 'The answer is wrong.' }
    const told = { kind: 'rule', text: 'x is no digit, as What is 0 + needs.' }
    expect(await score('rule')).toEqual([undefined, told, wrong, wrong, wrong])
    expect(await score('format')).toEqual([undefined, wrong, wrong, wrong, wrong])
  })

  it('of other code is rejected by name, and those of the library are not', async () => {
    const { body } = await world.call('POST', '/items', { task: 'own_seven', seed: 1 })
    const { id } = body.items[0]
    const [task, seed, index, rest] = id.split('.')
    const [engine, ...more] = JSON.parse(Buffer.from(rest, 'base64url').toString())
    expect(engine).toMatch(/^0\.1\.25\+[0-9a-f]{12}$/)
    const other = Buffer.from(JSON.stringify([`0.1.25+${'0'.repeat(12)}`, ...more])).toString('base64url')
    const score = (item_id: string) => world.call('POST', '/score', { rollouts: [{ item_id, answer: '7' }] })
    expect((await score(id)).body.verdicts[0].score).toBe(1)
    const rejected = await score(`${task}.${seed}.${index}.${other}`)
    expect(rejected).toMatchObject({ status: 409, body: { code: 'engine_version_mismatch' } })
    expect(rejected.body.detail).toContain('other code of the task own_seven')
  })
})
