import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ExportManifest, ExportParams } from '@reasoning-gym-server/contract/export'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../../world.ts'
import { aboutItem, ids, postGroups, right, written, wrong } from './dumping.ts'

let world: World
let item: Awaited<ReturnType<typeof aboutItem>>
const numbered = (n: number) => ({ completion: `<answer>100</answer> said ${n}` })
const close = { completion: '<answer>101</answer>' }

beforeAll(async () => {
  world = await openWorld({ worker: true })
  item = await aboutItem(world)
})
afterAll(() => world.close())

async function lines(run: string, query: string) {
  const { statusCode, body, headers } = await world.app.inject({ url: `/runs/${run}/export?${query}` })
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/x-ndjson'])
  return body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
const manifest = async (run: string, query = '') =>
  ExportManifest.parse((await world.call('GET', `/runs/${run}/export?manifest=true&${query}`)).body)

it('chat lines are the best rollouts of each item, with the prompt that the model saw', async () => {
  const other = (await world.call('POST', '/items', { task: 'leg_counting', seed: 43 })).body.items[0]
  await world.call('PUT', '/runs/sft', {})
  await postGroups(world, 'sft', item.id, ids(3), [wrong, numbered(1), numbered(2), numbered(1)])
  await postGroups(world, 'sft', other.id, ['other'], [wrong, wrong])
  const [line, ...more] = await lines('sft', 'format=sft')
  expect(more).toEqual([])
  expect(line).toEqual({
    messages: [...item.messages, { role: 'assistant', content: numbered(1).completion }],
    reward: 1,
    score: 1,
    task: 'leg_counting',
    item_id: item.id,
    group_id: expect.stringMatching(/^g\d$/),
    run: 'sft',
    recipe: JSON.stringify({ task: 'leg_counting', config: {}, seed: 42, index: 0, engine: '0.1.25' }),
  })
  expect(await lines('sft', 'max_per_item=10')).toHaveLength(2)
  expect(await lines('sft', 'max_per_item=10&dedupe=false')).toHaveLength(9)
  expect(await lines('sft', 'max_per_item=10&min_reward=0')).toHaveLength(4)
  expect(await lines('sft', 'min_reward=1.1')).toEqual([])
})

it('a pair is the best of a group against its worst, after one prompt', async () => {
  await world.call('PUT', '/runs/dpo', {})
  await postGroups(
    world,
    'dpo',
    item.id,
    ['pair'],
    [close, { ...numbered(1), length_tokens: 30 }, { ...numbered(2), length_tokens: 20 }, wrong],
  )
  await postGroups(world, 'dpo', item.id, ['equal'], [numbered(3), numbered(3)])
  const [line, ...more] = await lines('dpo', 'format=dpo&max_per_item=5')
  expect(more).toEqual([])
  expect(line).toMatchObject({
    prompt: item.messages,
    chosen: [{ role: 'assistant', content: numbered(2).completion }],
    chosen_reward: 1,
    group_id: 'pair',
  })
  expect(line.rejected_reward).toBeLessThan(1)
  expect(await lines('dpo', 'format=dpo&min_reward=1.1')).toEqual([])
})

it('dump files and kept groups are read together, each group once', async () => {
  await world.call('PUT', '/runs/both', { dump_rollouts: true, keep_groups: 20 })
  const { items } = (await world.call('POST', '/items', { task: 'leg_counting', seed: 1000, count: 110 })).body
  const groups = await Promise.all(
    items.map(async ({ id }: { id: string }, k: number) => {
      const { answer } = (await world.call('GET', `/items/${id}?reveal=true`)).body
      return { item_id: id, group_id: `s${k}`, rollouts: [{ completion: `<answer>${answer}</answer>` }, wrong] }
    }),
  )
  for (let k = 0; k < groups.length; k += 10) {
    const some = groups.slice(k, k + 10)
    expect((await world.call('POST', '/rollouts', { run: 'both', groups: some }, { prefer: 'wait=20' })).status).toBe(
      200,
    )
  }
  await written(world, 'both', 1)
  const groupsOf = async (query: string) => (await lines('both', query)).map(({ group_id }) => group_id)
  const dumped = await groupsOf('source=dumps')
  const kept = await groupsOf('source=kept')
  const all = await groupsOf('source=all')
  expect([dumped.length, kept.length, all.length]).toEqual([100, 20, 110])
  expect(new Set(all).size).toBe(110)
  const about = await manifest('both')
  expect(about).toMatchObject({ lines: 110, groups_read: 110, files_elsewhere: [], engine: { version: '0.1.25' } })
  expect(about.files).toHaveLength(1)
  expect(about.settings.keep_groups).toBe(20)
  expect(about.prompt.system_prompt).toContain('<answer>')
  const elsewhere = await openWorld({ prefix: world.prefix })
  try {
    const { body } = await elsewhere.call('GET', '/runs/both/export?manifest=true')
    expect(body.files_elsewhere).toEqual([{ name: about.files[0], node: world.features.dumps.dumps.folder.node }])
    expect(body.lines).toBe(20)
  } finally {
    await elsewhere.close()
  }
})

it('a damaged line of a file is left out, and its group comes from Redis while it is kept there', async () => {
  await world.call('PUT', '/runs/damaged', { dump_rollouts: true })
  await postGroups(world, 'damaged', item.id, ids(100), [right, wrong])
  const [file] = await written(world, 'damaged', 1)
  const path = join(world.features.dumps.dumps.folder.path, file?.name ?? '')
  const [cut = '', , ...whole] = readFileSync(path, 'utf8').split('\n')
  writeFileSync(path, [cut.slice(0, 99), 'null', ...whole].join('\n'))
  const count = async (source: string) =>
    (await lines('damaged', `dedupe=false&max_per_item=100&source=${source}`)).length
  expect([await count('dumps'), await count('all')]).toEqual([98, 100])
})

it('groups of one ID are each exported as they are: a rewind frees the IDs, and dump files keep the old lines', async () => {
  await world.call('PUT', '/runs/rewound', { dump_rollouts: true })
  await world.call('POST', '/runs/rewound/steps', { step: 0 })
  await postGroups(world, 'rewound', item.id, ids(100), [right, wrong])
  const [file] = await written(world, 'rewound', 1)
  await world.call('POST', '/runs/rewound/rewind', { step: 0 })
  await postGroups(world, 'rewound', item.id, ['g0'], [wrong, numbered(1)])
  const query = 'dedupe=false&max_per_item=1000&min_reward=0.5'
  const rewardsOf = async (source: string) =>
    (await lines('rewound', `${query}&source=${source}`)).map(({ reward }) => reward)
  expect(await rewardsOf('all')).toEqual(Array(101).fill(1))
  const path = join(world.features.dumps.dumps.folder.path, file?.name ?? '')
  const text = readFileSync(path, 'utf8')
  const first = JSON.parse(text.slice(0, text.indexOf('\n')))
  writeFileSync(path, `${text}${JSON.stringify({ ...first, rollouts: first.rollouts.toReversed() })}\n`)
  expect(await rewardsOf('dumps')).toEqual(Array(101).fill(1))
})

it('an export ends when its client has left', async () => {
  const { exports } = world.features.dumps
  const left = new AbortController()
  const params = ExportParams.parse({})
  const open = await exports.openLines('sft', params, { signal: left.signal })
  left.abort(new Error('left'))
  await expect(open.next()).rejects.toThrow('left')
  await expect(exports.buildManifest('sft', params, { signal: left.signal })).rejects.toThrow('left')
})

it('no line has a null, a number that is an integer, or half a surrogate pair', async () => {
  await world.call('PUT', '/runs/types', {})
  await postGroups(world, 'types', item.id, ['a'], [{ completion: '<answer>100</answer> \ud800' }, wrong])
  const { body } = await world.app.inject({ url: '/runs/types/export?format=dpo' })
  expect(body).toContain('"chosen_reward":1.0,')
  expect(body).toContain('"rejected_reward":0.')
  expect(body).not.toContain('null')
  expect(body).not.toContain('\\ud800')
})

it('a text with a line separator in it is a text like any other', async () => {
  await world.call('PUT', '/runs/separator', { dump_rollouts: true })
  const parted = { completion: '<think>one\u2028two\u2029three</think><answer>100</answer>' }
  await postGroups(world, 'separator', item.id, ids(100), [parted, wrong])
  await written(world, 'separator', 1)
  const [line] = await lines('separator', 'format=sft&source=dumps')
  expect(line.messages.at(-1).content).toBe(parted.completion)
})

it('is compressed for those who take it, says where its manifest is, and refuses what it does not know', async () => {
  await world.call('PUT', '/runs/wire', {})
  await postGroups(world, 'wire', item.id, ['a'], [right, wrong])
  const plain = await world.app.inject({ url: '/runs/wire/export' })
  const zipped = await world.app.inject({ url: '/runs/wire/export', headers: { 'accept-encoding': 'gzip' } })
  expect(zipped.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(plain.body)
  const link = /<(.*)>; rel="describedby"/.exec(String(plain.headers.link))?.[1]
  expect((await world.call('GET', `/runs/wire/export${link}`)).body).toMatchObject({ run: 'wire', lines: 1 })
  expect((await world.call('GET', '/runs/wire/export?format=csv')).body.code).toBe('invalid_request')
  expect((await world.call('GET', '/runs/nobody/export')).body.code).toBe('unknown_run')
})
