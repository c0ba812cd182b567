import { afterAll, beforeAll, expect, it } from 'vitest'
import { RetainedGroupPage } from '../../src/contract/retained-group.ts'
import { aboutItem, ids, postGroups, right, wrong } from '../features/dumps/dumping.ts'
import { openWorld, type World } from '../world.ts'

let world: World
let item: Awaited<ReturnType<typeof aboutItem>>

beforeAll(async () => {
  world = await openWorld({ worker: true })
  item = await aboutItem(world)
  const spell = (await world.call('POST', '/items', { task: 'spell_backward', seed: 1 })).body.items[0].id
  await postGroups(world, 'look', item.id, ids(5, 'both'), [right, wrong])
  await postGroups(world, 'look', item.id, ids(5, 'none'), [{ completion: 'no tags' }, right])
  await postGroups(world, 'look', item.id, ids(2, 'many'), [
    { completion: `${'x'.repeat(5000)}<answer>1</answer><answer>2</answer>` },
  ])
  await postGroups(world, 'look', spell, ids(3, 'spell'), [wrong])
})
afterAll(() => world.close())

async function look(query = '') {
  const { status, body } = await world.call('GET', `/runs/look/groups?${query}`)
  expect(status).toBe(200)
  return RetainedGroupPage.parse(body)
}
const idsOf = ({ groups }: RetainedGroupPage) => groups.map(({ group_id }) => group_id).toSorted()

it('the last groups come newest first, with their completions', async () => {
  const { groups, next_cursor } = await look()
  expect(groups).toHaveLength(15)
  expect(next_cursor).toBeNull()
  expect(groups[0]).toMatchObject({ task: 'spell_backward', status: 'scored', policy_version: null })
  const both = groups.find(({ group_id }) => group_id === 'both0')
  expect(both?.completions).toEqual(
    [right, wrong].map(({ completion }) => ({
      text: completion,
      cut: false,
      length_tokens: null,
      finish_reason: null,
    })),
  )
})

it('filters find what they name', async () => {
  expect(idsOf(await look('task=spell_backward'))).toEqual(ids(3, 'spell'))
  expect(idsOf(await look('fault=no_answer'))).toEqual(ids(5, 'none'))
  expect(idsOf(await look('fault=many_answers&task=leg_counting'))).toEqual(ids(2, 'many'))
  expect(idsOf(await look('min_reward=0.9'))).toEqual([...ids(5, 'both'), ...ids(5, 'none')])
  expect(idsOf(await look('destination=no_signal'))).not.toContain('both0')
  expect((await world.call('GET', '/runs/look/groups?fault=typo')).body.code).toBe('invalid_request')
  expect((await world.call('GET', '/runs/nobody/groups')).body.code).toBe('unknown_run')
})

it('pages meet every group once, while new ones come in', async () => {
  const seen: string[] = []
  let cursor: string | null = ''
  for (let page = 0; cursor !== null; page++) {
    const { groups, next_cursor }: RetainedGroupPage = await look(`limit=4${cursor && `&cursor=${cursor}`}`)
    expect(groups.length).toBeLessThanOrEqual(4)
    seen.push(...groups.map(({ group_id }) => group_id))
    if (page === 0) await postGroups(world, 'look', item.id, ['late'], [right])
    cursor = next_cursor
  }
  expect(seen.toSorted()).toEqual([...ids(5, 'both'), ...ids(2, 'many'), ...ids(5, 'none'), ...ids(3, 'spell')])
})

it('every kind of fault has its count and a few completions, whatever the page shows', async () => {
  const { faults, groups } = await look('limit=1&task=spell_backward')
  expect(groups).toHaveLength(1)
  expect(Object.keys(faults).toSorted()).toEqual(['many_answers', 'no_answer'])
  expect(faults.no_answer).toMatchObject({ count: 5 })
  expect(faults.no_answer?.samples).toHaveLength(3)
  expect(faults.no_answer?.samples[0]).toMatchObject({ rollout: 0, text: 'no tags', cut: false })
  const sample = faults.many_answers?.samples[0]
  expect(sample?.cut).toBe(true)
  expect(sample?.text.length).toBeLessThan(400)
  expect(sample?.text).toContain('<answer>2</answer>')
  const { faults: whole } = await look('full=true')
  expect(whole.many_answers?.samples[0]?.text.length).toBeGreaterThan(5000)
})

it('groups whose texts are gone are still listed while they are kept', async () => {
  await world.call('PUT', '/runs/short', { keep_groups: 2 })
  await postGroups(world, 'short', item.id, ids(4), [right, wrong])
  const { groups } = RetainedGroupPage.parse((await world.call('GET', '/runs/short/groups')).body)
  expect(groups).toHaveLength(2)
})
