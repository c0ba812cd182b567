import { RetainedGroup, RetainedGroupPage } from '@reasoning-gym-server/contract/retained-group'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aboutItem, ids, postGroups, right, wrong } from '../features/dumps/dumping.ts'
import { openWorld, until, type World } from '../world.ts'

let world: World
let item: Awaited<ReturnType<typeof aboutItem>>

beforeAll(async () => {
  world = await openWorld({ worker: true })
  item = await aboutItem(world)
  const spell = (await world.call('POST', '/items', { task: 'spell_backward', seed: 1 })).body.items[0].id
  await world.call('PUT', '/runs/look', {})
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

it('one group comes whole, with the expected answer for an admin', async () => {
  const { status, body } = await world.call('GET', '/runs/look/groups/many0')
  expect(status).toBe(200)
  const group = RetainedGroup.parse(body)
  expect(group).toMatchObject({ group_id: 'many0', expected: item.answer })
  expect(group.completions?.[0]).toMatchObject({ cut: false })
  expect(group.completions?.[0]?.text.length).toBeGreaterThan(5000)
  expect((await world.call('GET', '/runs/look/groups/nobody')).body.code).toBe('unknown_group')
})

it('a search finds text of completions and of reasoning, in any case, and says how far it went', async () => {
  const spoken = { role: 'assistant', content: '<answer>1</answer>', reasoning_content: 'A Heron has two' }
  await world.call('PUT', '/runs/words', {})
  await postGroups(world, 'words', item.id, ids(3, 'plain'), [right, wrong])
  await postGroups(world, 'words', item.id, ['heron'], [right, { messages: [spoken] }])
  const search = async (query: string) =>
    RetainedGroupPage.parse((await world.call('GET', `/runs/words/groups?${query}`)).body)
  const found = await search('q=hErOn')
  expect(found).toMatchObject({ searched: 4, kept: 4, next_cursor: null })
  expect(found.groups).toMatchObject([{ group_id: 'heron', matches: [1] }])
  expect((await search('q=SUM&limit=2')).groups).toHaveLength(2)
  expect((await search('q=absent')).groups).toEqual([])
  await world.call('PUT', '/runs/counted', {})
  await postGroups(world, 'counted', item.id, ['faulty'], [{ completion: 'no tags' }, right])
  await postGroups(world, 'counted', item.id, ids(3, 'plain'), [right, wrong])
  const { body } = await world.call('GET', '/runs/counted/groups?limit=1')
  expect([body.searched, body.faults.no_answer.samples.length]).toEqual([1, 1]) // found further on
  const whole = RetainedGroup.parse((await world.call('GET', '/runs/words/groups/heron')).body)
  expect(whole.completions?.[1]?.reasoning).toBe('A Heron has two')
})

it('the worst come first, page by page, while new ones come in; a step has its own groups', async () => {
  await world.call('PUT', '/runs/sorted', {})
  await postGroups(world, 'sorted', item.id, ids(3, 'good'), [right, right])
  await postGroups(world, 'sorted', item.id, ids(3, 'half'), [right, wrong])
  await postGroups(world, 'sorted', item.id, ids(3, 'bad'), [wrong, wrong])
  const seen: (number | null | undefined)[] = []
  const names: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const url = `/runs/sorted/groups?sort=worst&limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    const { groups, next_cursor }: RetainedGroupPage = RetainedGroupPage.parse((await world.call('GET', url)).body)
    seen.push(...groups.map(({ mean_reward }) => mean_reward))
    names.push(...groups.map(({ group_id }) => group_id))
    if (names.length === 4) await postGroups(world, 'sorted', item.id, ['late'], [wrong, wrong])
    cursor = next_cursor
  }
  expect(seen).toEqual(seen.toSorted((a, b) => Number(a) - Number(b)))
  expect(new Set(names).size).toBe(9)
  expect((await world.call('GET', '/runs/sorted/groups?sort=worst&cursor=5')).body.code).toBe('invalid_request')
  const groups = [{ item_id: item.id, group_id: 'of-step-7', buffer: false, policy_version: 7, rollouts: [right] }]
  await world.call('POST', '/rollouts', { run: 'sorted', groups })
  const ofStep = async () => (await world.call('GET', '/runs/sorted/groups?step=7')).body.groups
  await until(ofStep, (found) => found.length === 1)
})

it('the worst first are those of all groups, also where a filter passes over thousands', async () => {
  await world.call('PUT', '/runs/many', {})
  await postGroups(world, 'many', item.id, ['best'], [right, right])
  await postGroups(world, 'many', item.id, ids(1010, 'bad'), [wrong])
  const pages: RetainedGroupPage[] = []
  for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)?.next_cursor ?? null) {
    const url = `/runs/many/groups?sort=worst&min_reward=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    pages.push(RetainedGroupPage.parse((await world.call('GET', url)).body))
  }
  expect(pages.map(({ groups, searched }) => [idsOf({ groups } as RetainedGroupPage), searched])).toEqual([
    [[], 1000],
    [['best'], 11],
  ])
})

it('the best come first, page by page, and groups without a reward last', async () => {
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const url = `/runs/sorted/groups?sort=best&limit=4${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    const { groups, next_cursor }: RetainedGroupPage = RetainedGroupPage.parse((await world.call('GET', url)).body)
    seen.push(...groups.map(({ group_id }) => group_id.replace(/\d$/, '')))
    cursor = next_cursor
  }
  expect(seen).toEqual(['of-step-', 'good', 'good', 'good', 'half', 'half', 'half', 'late', 'bad', 'bad', 'bad'])
})

it('the most common answer of a group is counted over whole answers, not over those that look alike', async () => {
  const long = (middle: string) => ({ completion: `<answer>${'1 '.repeat(200)}${middle}${' 2'.repeat(200)}</answer>` })
  await world.call('PUT', '/runs/long', {})
  await postGroups(world, 'long', item.id, ['long'], [long('a'), long('b'), long('c'), long('b')])
  await postGroups(world, 'long', item.id, ['silent'], [{ completion: 'no tags' }])
  const { groups } = RetainedGroupPage.parse((await world.call('GET', '/runs/long/groups')).body)
  expect(groups.map(({ common_answer }) => common_answer)).toEqual([
    null,
    { text: expect.stringMatching(/^1 1 .* … .* 2 2$/), count: 2 },
  ])
})

it('one group tells what hardened scoring pays, so that a hack is not taken for a right answer', async () => {
  const { id } = (await world.call('POST', '/items', { task: 'complex_arithmetic', seed: 1 })).body.items[0]
  const { answer } = (await world.call('GET', `/items/${id}?reveal=true`)).body
  const rollouts = ['nan', answer, 'nothing'].map((text) => ({ completion: `<answer>${text}</answer>` }))
  await world.call('PUT', '/runs/hacked', {})
  await postGroups(world, 'hacked', id, ['hack', 'plain'], rollouts)
  const { body } = await world.call('GET', '/runs/hacked/groups/hack')
  expect(body.verdicts.map(({ score }: { score: number }) => score)).toEqual([1, 1, 0])
  expect(body.hardened_scores).toEqual([0, 1, 0])
  await postGroups(world, 'hacked', id, ['honest'], [rollouts[1], rollouts[2]] as { completion: string }[])
  const list = async (query: string) =>
    RetainedGroupPage.parse((await world.call('GET', `/runs/hacked/groups?${query}`)).body).groups
  expect((await list('paid_not_right=true')).map(({ group_id }) => group_id)).toEqual(['plain', 'hack'])
  expect((await list('hardened=true')).map((group) => group.hardened_scores)).toEqual([
    [1, 0],
    [0, 1, 0],
    [0, 1, 0],
  ])
  expect((await list('')).flatMap((group) => group.hardened_scores ?? [])).toEqual([])
  await world.call('PUT', '/runs/hacked', { scoring: 'hardened' })
  expect(await list('paid_not_right=true')).toEqual([])
  expect((await world.call('GET', '/runs/hacked/groups/hack')).body.hardened_scores).toBeUndefined()
})
