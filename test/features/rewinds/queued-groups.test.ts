import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld() // without a worker: every group stays queued
})
afterAll(() => world.close())

it('groups that waited for a worker at the step are void, and the run does not wait for them', async () => {
  for (const step of [0, 1]) {
    const { items } = (await world.call('POST', '/items', { run: 'default', step, count: 2 }, { prefer: 'wait=60' }))
      .body
    for (const [k, { id }] of items.entries()) {
      const rollouts = [{ completion: 'a' }]
      const body = { run: 'default', item_id: id, group_id: `${step}-${k}`, rollouts, policy_version: step }
      expect((await world.call('POST', '/rollouts', body)).status).toBe(202)
    }
  }
  const progress = async () => (await world.call('GET', '/runs/default')).body.progress
  expect(await progress()).toMatchObject({ groups: 4, queued_groups: 4 })
  const { voided } = (await world.call('POST', '/runs/default/rewind', { step: 0 })).body
  expect(voided).toMatchObject({ groups: 4, queued_groups: 4 })
  expect(await progress()).toMatchObject({ groups: 0, queued_groups: 0, scored_groups: 0, failed_groups: 0 })
})
