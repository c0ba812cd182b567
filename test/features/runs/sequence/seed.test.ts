/** The run's seed decides its items. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, takeInOrder, type World } from '../../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

const TASKS = [{ task: 'chain_sum', weight: 3 }, 'gcd', { task: 'leg_counting', weight: 0.5 }]
const MODES = {
  none: { complexity_mode: 'none' },
  fixed: { complexity_mode: 'fixed', difficulty: 0.6 },
  random: { complexity_mode: 'random' },
  curriculum: { complexity_mode: 'curriculum' },
  learnability: { sampling: 'learnability' },
}

/** IDs of the run's first items, in the order of its sequence, from calls of several sizes. */
async function takeItems(run: string): Promise<string[]> {
  const ids: string[] = []
  for (const size of [1, 5, 24]) for (const { id } of await takeInOrder(world, run, size)) ids.push(id)
  return ids
}

async function takeStepItems(run: string): Promise<string[]> {
  const ids: string[] = []
  for (const step of [0, 1]) {
    const { status, body } = await world.call('POST', '/items', { run, step, count: 15 }, { prefer: 'wait=60' })
    expect(status).toBe(200)
    for (const { id } of body.items) ids.push(id)
  }
  return ids
}

describe.each(Object.entries(MODES))('in the mode %s', (mode, settings) => {
  const create = async (name: string, seed: number) => {
    const { status } = await world.call('PUT', `/runs/${name}`, { tasks: TASKS, seed, ...settings })
    expect(status).toBe(201)
    return name
  }

  it.each([
    ['one after the other', takeItems],
    ['by step', takeStepItems],
  ])('runs of equal settings and seed get equal items, %s, and another seed gets others', async (_, take) => {
    const names = [`${mode}-a`, `b.${mode}`, `other-${mode}`]
    const [first, same, other] = await Promise.all(
      names.map(async (name, k) => take(await create(`${name}-${take.name.toLowerCase()}`, k === 2 ? 8 : 7))),
    )
    expect(new Set(first?.map((id) => id.split('.')[0])).size).toBeGreaterThan(1)
    expect(same).toEqual(first)
    expect(other?.filter((id) => first?.includes(id))).toEqual([])
  })
})

it('a run that is deleted and created again begins with the same items', async () => {
  await world.call('PUT', '/runs/again', { tasks: TASKS })
  const first = await takeItems('again')
  await world.call('DELETE', '/runs/again')
  await world.call('PUT', '/runs/again', { tasks: TASKS })
  expect(await takeItems('again')).toEqual(first)
})
