import { readFileSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { DumpFile } from '@reasoning-gym-server/contract/dump'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, until, type World } from '../../world.ts'
import { scrapeText } from '../operations/reading.ts'
import { aboutItem, filesIn, ids, linesOf, postGroups, right, written, wrong } from './dumping.ts'

let world: World
let item: Awaited<ReturnType<typeof aboutItem>>
let folder: string

beforeAll(async () => {
  world = await openWorld({ worker: true })
  item = await aboutItem(world)
  folder = world.features.dumps.dumps.folder.path
})
afterAll(() => world.close())

const runOf = async (run: string) => (await world.call('GET', `/runs/${run}`)).body
const dumping = (run: string, settings: object) => world.call('PUT', `/runs/${run}`, settings)

it('a line is the original’s, with ours after it, and reads as floats in Python', async () => {
  await dumping('example', { dump_rollouts: true })
  await world.call(
    'POST',
    '/rollouts',
    {
      run: 'example',
      item_id: item.id,
      group_id: 'one',
      policy_version: 7,
      rollouts: [{ ...right, length_tokens: 21, finish_reason: 'stop', policy_version: 6 }, wrong],
    },
    { prefer: 'wait=20' },
  )
  expect((await runOf('example')).progress.dumps.rollouts).toMatchObject({ waiting: 1, of: 100, written: 0 })
  await world.call('DELETE', '/runs/example')
  const [file] = await written(world, 'example', 1)
  expect(file && DumpFile.parse(file)).toMatchObject({ run: 'example', kind: 'rollouts', groups: 1, here: true })
  expect(file?.name).toMatch(/^reasoning_gym_environment_rollouts_[0-9a-f-]{36}_0000\.jsonl$/)
  const text = readFileSync(join(folder, file?.name ?? ''), 'utf8')
  const conversation = (completion: string) => [...item.messages, { role: 'assistant', content: completion }]
  expect(JSON.parse(text)).toEqual({
    item_id: 'leg_counting',
    rollouts: [
      {
        conversation: conversation(right.completion),
        score: 1,
        raw_score: 1,
        advantage: 0.5,
        answer: '100',
        fault: null,
        finish_reason: 'stop',
        length_tokens: 21,
      },
      {
        conversation: conversation(wrong.completion),
        score: 0,
        raw_score: 0,
        advantage: -0.5,
        answer: '1',
        fault: null,
        finish_reason: null,
        length_tokens: null,
      },
    ],
    group_id: 'one',
    recipe: { task: 'leg_counting', config: {}, seed: 42, index: 0, engine: '0.1.25' },
    run: 'example',
    difficulty: null,
    policy_version: 6,
  })
  expect(Object.keys(JSON.parse(text)).slice(0, 2)).toEqual(['item_id', 'rollouts'])
  expect(Object.keys(JSON.parse(text).rollouts[0]).slice(0, 2)).toEqual(['conversation', 'score'])
  expect(text).toContain('"score":1.0,')
  expect(text).toContain('"score":0.0,')
})

it('a line is one to every reader, whatever signs the model wrote', async () => {
  const odd = { completion: 'one\u0085two\u2028three\u2029four\vfive <answer>100</answer>' }
  await dumping('odd', { dump_rollouts: true })
  await postGroups(world, 'odd', item.id, ['a'], [odd, wrong])
  const { body: exported } = await world.app.inject({ url: '/runs/odd/export' })
  await world.call('DELETE', '/runs/odd')
  const [file] = await written(world, 'odd', 1)
  const dumped = readFileSync(join(folder, file?.name ?? ''), 'utf8')
  for (const text of [dumped, exported]) expect(text.split(/[\p{Cc}\u2028\u2029]/u)).toHaveLength(2)
  expect(JSON.parse(dumped).rollouts[0].conversation.at(-1).content).toBe(odd.completion)
  expect(JSON.parse(exported).messages.at(-1).content).toBe(odd.completion)
})

it('conversation and score are of the same rollout, though short ones are left out (fault 2 of the original)', async () => {
  await dumping('pairs', { dump_rollouts: true })
  const short = { ...wrong, tokens: [1, 2], masks: [1, 2] }
  const rollouts = [short, right, { ...wrong, finish_reason: 'abort' }, wrong, short, right]
  await postGroups(world, 'pairs', item.id, ['a'], rollouts)
  await world.call('DELETE', '/runs/pairs')
  const [file] = await written(world, 'pairs', 1)
  const [line] = linesOf(folder, file?.name ?? '')
  expect(
    line.rollouts.map(({ conversation, score }: { conversation: { content: string }[]; score: number }) => [
      conversation.at(-1)?.content,
      score,
    ]),
  ).toEqual([
    [right.completion, 1],
    [wrong.completion, 0],
    [right.completion, 1],
  ])
})

it('the prompt is the run’s, and messages that were sent are kept as they were', async () => {
  await dumping('talk', { dump_rollouts: 'all', system_prompt: 'Count well.', system_prompt_role: 'user' })
  const shown = (await world.call('GET', `/items/${item.id}?run=talk`)).body.messages
  const added = [
    { role: 'assistant', content: null, tool_calls: [{ id: '1', function: { name: 'add', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: '1', content: '100' },
    { role: 'assistant', content: '<answer>100</answer>' },
  ]
  const whole = [{ role: 'user', content: 'another prompt' }, ...added]
  await postGroups(world, 'talk', item.id, ['a'], [{ messages: added }, { messages: whole }, right])
  await world.call('DELETE', '/runs/talk')
  const [file] = await written(world, 'talk', 1)
  const [line] = linesOf(folder, file?.name ?? '')
  expect(line.rollouts.map(({ conversation }: { conversation: object[] }) => conversation)).toEqual([
    [...shown, ...added],
    whole,
    [...shown, { role: 'assistant', content: right.completion }],
  ])
  expect(line.rollouts[0].score).toBe(1)
})

it('a file is written every 100 groups, every 50 failed ones; the rest waits for its file', async () => {
  await dumping('many', { dump_rollouts: true, dump_failed_rollouts: true, keep_groups: 1 })
  await postGroups(world, 'many', item.id, ids(230, 'good'), [right, wrong])
  await postGroups(world, 'many', item.id, ids(120, 'bad'), [wrong, wrong])
  const files = (await written(world, 'many', 4)) as unknown as DumpFile[]
  expect(files.map(({ kind, groups }) => `${kind} ${groups}`).toSorted()).toEqual([
    'failed 50',
    'failed 50',
    'rollouts 100',
    'rollouts 100',
  ])
  const scraped = await scrapeText(world)
  expect(scraped).toContain('rgs_dump_groups{run="many",kind="rollouts",state="waiting"} 30')
  expect(scraped).toContain('rgs_dump_groups{run="many",kind="failed",state="written"} 100')
  const { dumps } = (await runOf('many')).progress
  expect(dumps).toEqual({
    rollouts: { waiting: 30, of: 100, unwritten: 0, written: 200, refused: 0 },
    failed: { waiting: 20, of: 50, unwritten: 0, written: 100, refused: 0 },
  })
  await world.call('DELETE', '/runs/many')
  const all = (await written(world, 'many', 6)) as unknown as DumpFile[]
  const groupsOf = (kind: string) =>
    all
      .filter((file) => file.kind === kind)
      .flatMap(({ name }) => linesOf(folder, name))
      .map(({ group_id }) => String(group_id))
      .toSorted()
  expect(groupsOf('rollouts')).toEqual(ids(230, 'good').toSorted())
  expect(groupsOf('failed')).toEqual(ids(120, 'bad').toSorted())
  const uuids = new Set(all.map(({ name }) => name.split('_').at(-2)))
  expect(uuids.size).toBe(1)
  const numbers = all.filter(({ kind }) => kind === 'failed').map(({ name }) => name.slice(-10, -6))
  expect(numbers.toSorted()).toEqual(['0000', '0001', '0002'])
})

it('a partial file is written when it has not grown for a while', async () => {
  await dumping('quiet', { dump_rollouts: true })
  await postGroups(world, 'quiet', item.id, ids(3), [right, wrong])
  const uuidOf = async (run: string) => (await world.features.runs.repository.get(run))?.incarnation
  await world.features.dumps.dumps.sweep(uuidOf, Date.now())
  expect((await world.call('GET', '/dumps?run=quiet')).body.files).toEqual([])
  await world.features.dumps.dumps.sweep(uuidOf, Date.now() + 2 * 3600_000)
  const [file] = await written(world, 'quiet', 1)
  expect(linesOf(folder, file?.name ?? '')).toHaveLength(3)
  await postGroups(world, 'quiet', item.id, ids(1, 'later'), [right, wrong])
  await world.call('DELETE', '/runs/quiet')
  const files = await written(world, 'quiet', 2)
  expect(files.map(({ name }) => name.slice(-10))).toEqual(['0000.jsonl', '0001.jsonl'])
})

it('a partial file is written when its worker ends (fault 7 of the original)', async () => {
  const ending = await openWorld({ worker: true })
  const { id } = await aboutItem(ending)
  await ending.call('PUT', '/runs/end', { dump_rollouts: true })
  await postGroups(ending, 'end', id, ids(5), [right, wrong])
  const { path } = ending.features.dumps.dumps.folder
  await ending.stopWorkers()
  const [name = ''] = filesIn(path)
  expect(linesOf(path, name)).toHaveLength(5)
  await ending.close()
})

it('a run that is made again under its name has files of its own', async () => {
  const uuids = new Set<string>()
  for (const round of [1, 2]) {
    await dumping('again', { dump_rollouts: true })
    await postGroups(world, 'again', item.id, ids(1), [right, wrong])
    await world.call('DELETE', '/runs/again')
    for (const { name } of await written(world, 'again', round)) uuids.add(name.split('_').at(-2) ?? '')
  }
  expect(uuids.size).toBe(2)
})

it('a file is streamed whole, in ranges, compressed, and not at all if the caller has it', async () => {
  await dumping('wire', { dump_rollouts: true })
  await postGroups(world, 'wire', item.id, ids(4), [right, wrong])
  await world.call('DELETE', '/runs/wire')
  const [file] = await written(world, 'wire', 1)
  const url = `/dumps/${file?.name}`
  const bytes = readFileSync(join(folder, file?.name ?? ''))
  const get = (headers = {}, method: 'GET' | 'HEAD' = 'GET') => world.app.inject({ method, url, headers })
  const whole = await get()
  expect([whole.statusCode, whole.headers['content-type']]).toEqual([200, 'application/x-ndjson'])
  expect(whole.rawPayload).toEqual(bytes)
  expect(whole.headers['content-length']).toBe(String(bytes.length))
  const part = await get({ range: 'bytes=10-19', 'accept-encoding': 'gzip' })
  expect([part.statusCode, part.headers['content-range']]).toEqual([206, `bytes 10-19/${bytes.length}`])
  expect(part.rawPayload).toEqual(bytes.subarray(10, 20))
  expect((await get({ range: 'bytes=-5' })).rawPayload).toEqual(bytes.subarray(-5))
  const beyond = await get({ range: `bytes=${bytes.length}-` })
  expect([beyond.statusCode, beyond.headers['content-range']]).toEqual([416, `bytes */${bytes.length}`])
  const zipped = await get({ 'accept-encoding': 'gzip, deflate' })
  expect(zipped.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(zipped.rawPayload)).toEqual(bytes)
  expect((await get({ 'if-none-match': whole.headers.etag })).statusCode).toBe(304)
  const head = await get({}, 'HEAD')
  expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([200, String(bytes.length), ''])
})

it('a name is a dump’s name and no path; what is deleted or unknown is not there', async () => {
  const secret = '..%2F..%2F..%2Fetc%2Fpasswd'
  for (const name of [secret, '%2Fetc%2Fpasswd', '.folder-id', 'a.jsonl', '..%5C..%5Cx.jsonl', '..%00.jsonl']) {
    for (const method of ['GET', 'DELETE'] as const) {
      const { status, body } = await world.call(method, `/dumps/${name}`)
      expect([name, method, status, body.code]).toEqual([name, method, 404, 'unknown_dump'])
    }
  }
  const absent = `reasoning_gym_environment_rollouts_${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}_0000.jsonl`
  expect((await world.call('GET', `/dumps/${absent}`)).body.code).toBe('unknown_dump')
  await dumping('gone', { dump_rollouts: true })
  await postGroups(world, 'gone', item.id, ids(1), [right, wrong])
  await world.call('DELETE', '/runs/gone')
  const [file] = await written(world, 'gone', 1)
  expect((await world.call('DELETE', `/dumps/${file?.name}`)).status).toBe(204)
  expect(filesIn(folder)).not.toContain(file?.name)
  expect((await world.call('GET', `/dumps/${file?.name}`)).body.code).toBe('unknown_dump')
  expect((await world.call('DELETE', `/dumps/${file?.name}`)).body.code).toBe('unknown_dump')
  expect((await world.call('GET', '/dumps?run=gone')).body.files).toEqual([])
})

it('a machine with a folder of its own lists the file and says which node has it', async () => {
  const elsewhere = await openWorld({ prefix: world.prefix })
  try {
    await dumping('apart', { dump_rollouts: true })
    await postGroups(world, 'apart', item.id, ids(1), [right, wrong])
    await world.call('DELETE', '/runs/apart')
    const [file] = await written(world, 'apart', 1)
    const listed = (await elsewhere.call('GET', '/dumps?run=apart')).body.files
    expect(listed).toEqual([{ ...file, here: false }])
    for (const method of ['GET', 'DELETE'] as const) {
      const { status, body } = await elsewhere.call(method, `/dumps/${file?.name}`)
      expect([status, body.code]).toEqual([409, 'dump_elsewhere'])
      expect(body.detail).toContain(world.features.dumps.dumps.folder.node)
    }
  } finally {
    await elsewhere.close()
  }
})

it('over the bound groups are scored, but not dumped; deleting files makes room again', async () => {
  const lines: string[] = []
  const tight = await openWorld({ worker: true, DUMPS_MAX_BYTES: 20_000, onLog: (line) => lines.push(line) })
  try {
    const { id } = await aboutItem(tight)
    await tight.call('PUT', '/runs/tight', { dump_rollouts: true })
    await postGroups(tight, 'tight', id, ids(60), [right, wrong])
    const { progress } = (await tight.call('GET', '/runs/tight')).body
    const { waiting, refused } = progress.dumps.rollouts
    expect(progress.scored_groups).toBe(60)
    expect(refused).toBeGreaterThan(0)
    expect(waiting + refused).toBe(60)
    expect(lines.filter((line) => line.includes('but not dumped'))).toHaveLength(1)
    await tight.call('DELETE', '/runs/tight')
    const files = (await written(tight, 'tight', 1)) as unknown as DumpFile[]
    expect(files[0]?.groups).toBe(waiting)
    expect(files[0]?.bytes).toBeLessThanOrEqual(20_000)
    await tight.call('DELETE', `/dumps/${files[0]?.name}`)
    await tight.call('PUT', '/runs/room', { dump_rollouts: true })
    await postGroups(tight, 'room', id, ids(1), [right, wrong])
    expect((await tight.call('GET', '/runs/room')).body.progress.dumps.rollouts).toMatchObject({
      waiting: 1,
      refused: 0,
    })
  } finally {
    await tight.close()
  }
})

it('files that Redis does not know are listed again after a worker starts', async () => {
  await dumping('lost', { dump_rollouts: true })
  await postGroups(world, 'lost', item.id, ids(3), [right, wrong, { completion: 'a line\u2028or two' }])
  await world.call('DELETE', '/runs/lost')
  const [file] = (await written(world, 'lost', 1)) as unknown as DumpFile[]
  const after = await openWorld({ DATA_DIR: join(folder, '..') })
  try {
    expect((await after.call('GET', '/dumps')).body.files).toEqual([])
    after.startWorker()
    const files = await until(
      async () => (await after.call('GET', '/dumps?run=lost')).body.files as DumpFile[],
      (found) => found.length > 0,
    )
    expect(files[0]).toMatchObject({ name: file?.name, groups: 3, bytes: file?.bytes, run: 'lost', here: true })
  } finally {
    await after.close()
  }
})

it('a folder that cannot be read for a moment costs no file', async () => {
  await dumping('kept', { dump_rollouts: true })
  await postGroups(world, 'kept', item.id, ids(1), [right, wrong])
  await world.call('DELETE', '/runs/kept')
  const [file] = await written(world, 'kept', 1)
  renameSync(folder, `${folder}-away`)
  symlinkSync(folder, folder) // a link to itself: ELOOP
  try {
    for (const path of ['/dumps?run=kept', `/dumps/${file?.name}`])
      expect((await world.call('GET', path)).status).toBe(500)
  } finally {
    unlinkSync(folder)
    renameSync(`${folder}-away`, folder)
  }
  expect((await world.call('GET', '/dumps?run=kept')).body.files).toEqual([file])
})
