import type { Item } from '@reasoning-gym-server/contract/item'
import { getCorrectAnswer } from '@reasoning-gym-server/mock-model/answers'
import { seededRandom } from '@reasoning-gym-server/task-tools/seeded-random'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'

const GROUP_SIZE = 8
const ROUND = 30
const ROUNDS = 12
const COUNTED_ROUNDS = 5

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

const random = seededRandom(5)
/** Whether each rollout of an item is right. */
const POLICY: Record<string, () => boolean[]> = {
  spell_backward: () => Array<boolean>(GROUP_SIZE).fill(true),
  chain_sum: () => Array<boolean>(GROUP_SIZE).fill(false),
  leg_counting: () => Array.from({ length: GROUP_SIZE }, (_, k) => k % 2 === 0),
  number_sorting: () => Array<boolean>(GROUP_SIZE).fill(random() < 0.5),
}

async function answer({ id, task }: Item): Promise<object> {
  const item = (await world.call('GET', `/items/${id}?reveal=true`)).body
  const right = getCorrectAnswer(item)
  const rollouts = (POLICY[task]?.() ?? []).map((isRight) => ({
    completion: `<answer>${isRight ? right : 'no idea'}</answer>`,
  }))
  return { item_id: id, rollouts }
}

it('a task without signal gets its least share, also if its items are all right or all wrong', {
  timeout: 120_000,
}, async () => {
  await world.call('PUT', '/runs/four', { tasks: Object.keys(POLICY), sampling: 'learnability', buffer: false })
  const drawn: string[] = []
  while (drawn.length < ROUNDS * ROUND) {
    const { items = [] } = (await world.call('POST', '/items', { run: 'four', count: ROUND })).body
    const groups = await Promise.all((items as Item[]).map(answer))
    if (groups.length === 0) continue
    await world.call('POST', '/rollouts', { run: 'four', groups }, { prefer: 'wait=30' })
    drawn.push(...(items as Item[]).map(({ task }) => task))
  }
  const counted = drawn.slice(-COUNTED_ROUNDS * ROUND)
  const share = (task: string) => counted.filter((one) => one === task).length / counted.length
  expect(share('leg_counting')).toBeGreaterThan(0.88)
  for (const task of ['spell_backward', 'chain_sum', 'number_sorting'])
    expect([task, share(task) < 0.05]).toEqual([task, true])
  const { tasks } = (await world.call('GET', '/runs/four')).body
  expect(tasks.leg_counting.learnability).toBeGreaterThan(0.15)
  expect(tasks.number_sorting.learnability).toBeLessThan(0.02)
})
