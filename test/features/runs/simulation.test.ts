import type { Item } from '@reasoning-gym-server/contract/item'
import type { CurriculumPoint } from '@reasoning-gym-server/contract/run'
import { getAccuracyAt } from '@reasoning-gym-server/mock-model/learner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, takeItems, type World } from '../../world.ts'
import { generateCompletions, getDifficultyFor, getSkill, runLearnerStep, type ServerCall } from './learner.ts'

const TASKS = ['chain_sum', 'leg_counting', 'gcd', 'spell_backward']
const TARGET = 0.7
const SETTINGS = { tasks: TASKS, complexity_mode: 'curriculum', curriculum_target_accuracy: TARGET }

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

const through =
  (at: World): ServerCall =>
  async (method, path, body) =>
    (await at.call(method, path, body, { prefer: 'wait=30' })).body
const history = async (at: World, run: string): Promise<CurriculumPoint[]> =>
  (await at.call('GET', `/runs/${run}/history`)).body.points

describe('a learner whose accuracy falls with difficulty', () => {
  it('settles, in each task, where its accuracy is at the target', { timeout: 180_000 }, async () => {
    await world.call('PUT', '/runs/learner', SETTINGS)
    const counts: Record<string, number> = {}
    while (TASKS.some((task) => (counts[task] ?? 0) < 35)) {
      for (const { task } of await runLearnerStep(through(world), 'learner', { count: 4, size: 16 }))
        counts[task] = (counts[task] ?? 0) + 1
    }
    for (const task of TASKS) {
      const last = (await history(world, 'learner')).filter((point) => point.task === task).slice(-15)
      const mean = last.reduce((sum, { difficulty }) => sum + difficulty, 0) / last.length
      expect([task, Math.abs(mean - getDifficultyFor(getSkill(task), TARGET))]).toEqual([
        task,
        expect.toSatisfy((d) => d <= 0.1),
      ])
    }
  })

  it('shows in the figures of the run: by step, by task, and in its state', async () => {
    const { body } = await world.call('GET', '/runs/learner')
    expect(body.state.is).toBe('flowing')
    expect(Object.keys(body.tasks).toSorted()).toEqual(TASKS.toSorted())
    expect(body.tasks.gcd).toMatchObject({ accuracy: expect.any(Number), last_at: expect.stringMatching(/^20/) })
    const response = await world.app.inject({ method: 'GET', url: '/runs/learner/metrics' })
    const [line] = response.body.trim().split('\n')
    expect(response.headers['content-type']).toContain('application/x-ndjson')
    expect(JSON.parse(line ?? '')).toMatchObject({
      step: 0,
      groups: body.progress.scored_groups,
      'reward/mean': expect.any(Number),
      'task/gcd/reward': expect.any(Number),
      'unscored/frac': 0,
    })
  })
})

/** One group at a time, from nodes that take turns. */
async function drive(nodes: World[], run: string, groups: number): Promise<void> {
  for (let k = 0; k < groups; k++) {
    const node = nodes[k % nodes.length] as World
    const call = through(node)
    let items: Item[] = []
    while (items.length === 0) items = ((await call('POST', '/items', { run })) as { items?: Item[] }).items ?? []
    for (const item of items) {
      const completions = await generateCompletions(
        call,
        item,
        8,
        getAccuracyAt(getSkill(item.task), item.difficulty ?? 0),
      )
      await call('POST', '/rollouts', {
        run,
        item_id: item.id,
        rollouts: completions.map((completion) => ({ completion })),
      })
    }
  }
}

const told = (points: CurriculumPoint[], task: string) =>
  points
    .filter((point) => point.task === task)
    .map(({ step, score, difficulty, accuracy }) => ({ step, score, difficulty, accuracy }))

describe('who serves a run does not matter', () => {
  it('two nodes with a worker each, and a restart of all in the middle, give what one gives', {
    timeout: 180_000,
  }, async () => {
    await world.call('PUT', '/runs/same', SETTINGS)
    await drive([world], 'same', 24)
    const alone = await history(world, 'same')

    const first = await openWorld({ worker: true })
    const { prefix } = first
    const second = await openWorld({ worker: true, prefix })
    await first.call('PUT', '/runs/same', SETTINGS)
    await drive([first, second], 'same', 12)
    await Promise.all([first.close(), second.close()])
    const third = await openWorld({ worker: true, prefix })
    const fourth = await openWorld({ worker: true, prefix })
    try {
      await drive([third, fourth], 'same', 12)
      const together = await history(third, 'same')
      expect(together).toHaveLength(alone.length)
      for (const task of TASKS) {
        // On a busy machine an item may be late and those after it go first: then a task's last one is missing.
        const [one, other] = [told(alone, task), told(together, task)]
        expect(Math.abs(one.length - other.length)).toBeLessThan(4)
        const both = Math.min(one.length, other.length)
        expect(other.slice(0, both)).toEqual(one.slice(0, both))
      }
    } finally {
      await Promise.all([third.close(), fourth.close()])
    }
  })

  it('the history, replayed by hand, gives the levels it tells of', async () => {
    const levels = new Map(TASKS.map((task) => [task, { level: 0.3, scores: [] as number[] }]))
    for (const { task, score, difficulty } of await history(world, 'same')) {
      const state = levels.get(task)
      if (!state) throw new Error(`${task} is not of the run`)
      state.scores.push(score)
      state.level = moved(state.level, state.scores.slice(-10).slice(-5), state.scores.length)
      expect(difficulty).toBeCloseTo(state.level, 12)
    }
  })
})

/** The original's rule, written again. */
function moved(level: number, last: number[], seen: number): number {
  if (seen < 3) return level
  const mean = last.reduce((a, b) => a + b, 0) / last.length
  const deviation = Math.sqrt(last.reduce((sum, x) => sum + (x - mean) ** 2, 0) / last.length)
  const stability = Math.max(0.5, 1 - deviation)
  let move = mean > TARGET + 0.05 ? 0.05 * stability : mean < TARGET - 0.05 ? -0.05 * stability : 0
  if (stability > 0.8 && mean > 0.9 && level < 0.5) move = 0.1 * stability
  else if (stability > 0.8 && mean < 0.3 && level > 0.5) move = -0.1 * stability
  return Math.min(1, Math.max(0, level + move))
}

describe('settings', () => {
  it('a preset changes defaults, and named settings win over it', async () => {
    const { body } = await world.call('PUT', '/runs/preset', { preset: 'clean', dual_format: true, exclude: [] })
    expect(body.settings).toMatchObject({
      preset: 'clean',
      dual_format: true,
      min_trained_tokens: 1,
      length_penalty: false,
      extraction: 'last_tag',
      scoring: 'hardened',
      signal_on: 'score',
    })
    expect(body.changed).toEqual(expect.arrayContaining(['preset', 'scoring']))
    expect((await world.call('PUT', '/runs/preset', { preset: null })).body.settings.extraction).toBe('strict')
  })

  it('a run tells of each task what went wrong in it', async () => {
    const { body } = await world.call('POST', '/items', { task: 'gcd', seed: 3 })
    const rollouts = [{ completion: 'x', finish_reason: 'length', length_tokens: 512 }, { completion: 'y' }]
    await world.call('PUT', '/runs/told', {})
    const group = { run: 'told', item_id: body.items[0].id, rollouts }
    await world.call('POST', '/rollouts', group, { prefer: 'wait=30' })
    expect((await world.call('GET', '/runs/told')).body.tasks).toEqual({
      gcd: expect.objectContaining({
        faults: { no_answer: 2 },
        truncated: 1,
        length_p95: expect.toSatisfy((n) => Math.abs(n - 512) < 26),
      }),
    })
  })

  it('a run whose groups fail says so, from the first on where none was scored, until one is', async () => {
    await world.call('PUT', '/runs/failing', { tasks: ['gcd'], min_trained_tokens: 0 })
    const [first, second] = (await takeItems(world, 'failing', 2)) as [Item, Item]
    const posted = async (item_id: string, finish_reason: string) => {
      const rollouts = [
        { completion: '', finish_reason },
        { completion: 'x', finish_reason },
      ]
      await world.call('POST', '/rollouts', { run: 'failing', item_id, rollouts }, { prefer: 'wait=20' })
      return (await world.call('GET', '/runs/failing')).body.state
    }
    expect(await posted(first.id, 'abort')).toMatchObject({
      is: 'no_signal',
      why: expect.stringContaining('failed'),
    })
    expect(await posted(second.id, 'stop')).toMatchObject({ is: 'flowing' })
  })

  it('a run without signal says what its groups are', async () => {
    const why = async (run: string, settings: object, rollout: object) => {
      await world.call('PUT', `/runs/${run}`, { tasks: ['gcd'], ...settings })
      for (const { id } of await takeItems(world, run, 8)) {
        const { answer } = (await world.call('GET', `/items/${id}?reveal=true`)).body
        const one = { completion: `<answer>${answer}</answer>`, ...rollout }
        await world.call('POST', '/rollouts', { run, item_id: id, rollouts: [one, one] }, { prefer: 'wait=20' })
      }
      const { state } = (await world.call('GET', `/runs/${run}`)).body
      expect(state.is).toBe('no_signal')
      return state.why
    }
    expect(await why('dull-easy', {}, {})).toContain('too easy')
    expect(await why('dull-hard', {}, { completion: 'x' })).toContain('too hard')
    expect(await why('dull-short', {}, { tokens: [1, 2], masks: [1, 2] })).toContain('min_trained_tokens')
    expect(await why('dull-cut', {}, { finish_reason: 'length' })).toContain('truncated')
    const { progress } = (await world.call('GET', '/runs/dull-cut')).body
    expect(progress).toMatchObject({ scored_groups: 8, no_signal: { easy: 0, hard: 0, masked: 8 } }) // nobody votes in them
    expect(await why('dull-kept', { drop_equal_scores: false }, {})).toContain('too easy')
  })

  it('a run that nothing comes to says so', async () => {
    await world.call('PUT', '/runs/idle', {})
    expect((await world.call('GET', '/runs/idle')).body.state).toMatchObject({
      is: 'idle',
      why: expect.stringContaining('No rollouts have arrived yet'),
    })
  })
})
