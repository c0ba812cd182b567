import type { Item } from '@reasoning-gym-server/contract/item'
import type { CurriculumPoint } from '@reasoning-gym-server/contract/run'
import { getCorrectAnswer } from '@reasoning-gym-server/mock-model/answers'
import { hashToUnitInterval } from '@reasoning-gym-server/mock-model/behavior'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../../../world.ts'

const TASKS = ['chain_sum', 'number_sorting', 'spell_backward', 'leg_counting']

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

/**
 * Takes the items of a step and posts groups of eight, each right with the probability that the learner has on the item.
 * The next group of a task follows once the last one counts: the frontier depends on their order.
 */
async function playStep(run: string, step: number, count: number, solve: (item: Item) => number): Promise<Item[]> {
  const { body } = await world.call('POST', '/items', { run, step, count }, { prefer: 'wait=60' })
  const items: Item[] = body.items
  const postInOrder = async (ofTask: Item[]) => {
    for (const item of ofTask) {
      const { body: known } = await world.call('GET', `/items/${item.id}?reveal=true`)
      const isRight = (k: number) => hashToUnitInterval(run, item.id, String(k)) < solve(item)
      const rollouts = Array.from({ length: 8 }, (_, k) => ({
        completion: `<answer>${isRight(k) ? getCorrectAnswer(known) : 'zzz'}</answer>`,
      }))
      const group = { run, item_id: item.id, buffer: false, rollouts }
      const { status } = await world.call('POST', '/rollouts', group, { prefer: 'wait=60' })
      expect(status).toBe(200)
    }
  }
  await Promise.all(
    Map.groupBy(items, ({ task }) => task)
      .values()
      .map(postInOrder),
  )
  return items
}

const put = (run: string, settings: object) => world.call('PUT', `/runs/${run}`, { preset: 'clean', ...settings })
const listPoints = async (run: string): Promise<CurriculumPoint[]> =>
  (await world.call('GET', `/runs/${run}/history`)).body.points

describe('a weak model', () => {
  it.each([0, 0.1])(
    'that solves %f of the lowest rung stays there, and explores one item of 32',
    async (share) => {
      const run = `weak-${100 * share}`
      await put(run, { tasks: TASKS })
      const solve = ({ difficulty }: Item) => (difficulty === 0 ? share : 0)
      for (let step = 0; step < 40; step++) {
        const items = await playStep(run, step, 16, solve)
        const above = items.filter(({ difficulty }) => step >= 6 && (difficulty ?? 0) > 0.15)
        expect([step, above.length], above.map(({ difficulty }) => difficulty).join(' ')).toEqual([
          step,
          expect.toSatisfy((n) => n <= 2),
        ])
      }
      const points = await listPoints(run)
      for (const task of TASKS) {
        const ofTask = points.filter((point) => point.task === task)
        const rises = ofTask.filter(
          (point, k) => point.difficulty > (ofTask[k - 1]?.difficulty ?? 1) && point.score < 0.5,
        )
        expect(rises).toEqual([])
      }
    },
    120_000,
  )
})

describe('after a jump', () => {
  /** Groups of each task after the jump until two in a row have at least 70% of the best signal. */
  async function follow(run: string, [from, to]: [number, number], faulty = 0): Promise<number[]> {
    await put(run, { tasks: TASKS, seed: run.length })
    const rate = (place: number, difficulty: number) => 1 / (1 + Math.exp(-10 * (place - difficulty)))
    const near = new Map(TASKS.map((task): [string, boolean[]] => [task, []]))
    for (let step = 0; step < 70; step++) {
      const place = step < 25 ? from : to
      const items = await playStep(run, step, 4, ({ difficulty }) => (1 - faulty) * rate(place, difficulty ?? 0))
      if (step < 25) continue
      for (const { task, difficulty } of items) {
        const q = rate(to, difficulty ?? 0)
        near.get(task)?.push(4 * q * (1 - q) > 0.7)
      }
    }
    return [...near.values()].map((list) => {
      const followed = list.findIndex((isNear, k) => isNear && list[k + 1])
      return followed === -1 ? list.length : followed
    })
  }
  function median(values: number[]): number {
    const sorted = values.toSorted((a, b) => a - b)
    const middle = (values.length - 1) / 2
    return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
  }

  it.each<[string, [number, number], number, number]>([
    ['up', [0.2, 0.85], 0, 4],
    ['down', [0.85, 0.2], 0, 4],
    ['up with 30% wrong inside the tags', [0.2, 0.85], 0.3, 12],
  ])(
    'it finds the rung again: %s',
    async (name, jump, faulty, most) => {
      const run = `jump-${name.replaceAll(/[^a-z]/g, '')}`
      const followed = [...(await follow(`${run}-a`, jump, faulty)), ...(await follow(`${run}-bb`, jump, faulty))]
      expect(median(followed)).toBeLessThanOrEqual(most)
    },
    120_000,
  )
})
