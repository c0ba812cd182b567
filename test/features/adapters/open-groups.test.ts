/** Open groups: whatever happens between a sample and its group, a rollout that was answered counts once. */
import { ServiceError } from '@reasoning-gym-server/contract/errors'
import { decodeItemId, encodeItemId } from '@reasoning-gym-server/contract/item-id'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { chooseSweepAges } from '../../../src/features/adapters/open-groups/closed-groups.ts'
import { createRecordedSample } from '../../../src/features/adapters/open-groups/group-assembler.ts'
import {
  createOpenGroupKeys,
  OPEN_GROUP_LIMITS,
  OpenGroupRepository,
} from '../../../src/features/adapters/open-groups/repository.ts'
import { SampleWriter } from '../../../src/features/adapters/open-groups/sample-writer.ts'
import { redisNow } from '../../../src/platform/redis/redis-clock.ts'
import { keysOf, until } from '../../world.ts'
import {
  begin,
  closeNodes,
  countOpen,
  groupsBecome,
  item,
  listGroups,
  node,
  openNodes,
  other,
  secondItem,
  send,
  sweep,
} from './open-group-nodes.ts'

/** What comes in the same millisecond is no later sign of life. The clock of Redis may be set back. */
async function untilLater(): Promise<void> {
  const begun = redisNow()
  await until(
    async () => redisNow(),
    (now) => now > begun + 1,
  )
}

beforeAll(openNodes)
afterEach(() => vi.restoreAllMocks())
afterAll(closeNodes)

describe('samples of one item', () => {
  it('through two nodes in any order become groups of group_size, each of them in one', async () => {
    await begin('many', { group_size: 4 })
    const names = Array.from({ length: 40 }, (_, k) => `sample ${k}`)
    await Promise.all(
      names.map((name, k) => send('many', name, { at: k % 3 ? node : other, itemId: k % 2 ? item : secondItem })),
    )
    const groups = await until(
      () => listGroups('many'),
      (found) => found.length >= 10,
    )
    expect(groups.map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => 4))
    expect(groups.flat().toSorted()).toEqual(names.toSorted())
    for (const group of groups) expect(new Set(group.map((name) => Number(name.slice(7)) % 2)).size).toBe(1)
    expect(await countOpen('many')).toBe(0)
  })

  it('beyond group_size begin the next group, and a group to which nothing is added is closed with what it has', async () => {
    await begin('idle', { group_size: 3, open_group_timeout_s: 1 })
    for (const name of ['a', 'b', 'c', 'd']) await send('idle', name)
    await groupsBecome('idle', [['a', 'b', 'c']])
    expect(await countOpen('idle')).toBe(1)
    await until(
      async () => {
        await sweep()
        return countOpen('idle')
      },
      (open) => open === 0,
    )
    await groupsBecome('idle', [['a', 'b', 'c'], ['d']])
    await send('idle', 'too late for it')
    expect(await countOpen('idle')).toBe(1)
  })
})

describe('samples that arrive together', () => {
  it('share scripts, and none fails for another that Redis rejects', async () => {
    const run = await begin('together', { group_size: 4 })
    const write = OpenGroupRepository.prototype.write
    const calls = vi.spyOn(OpenGroupRepository.prototype, 'write')
    calls.mockImplementation(async function (this: OpenGroupRepository, of, changes) {
      if (changes.records?.some(({ isNamed }) => isNamed)) throw Object.assign(new Error('OOM'), { name: 'ReplyError' })
      return write.call(this, of, changes)
    })
    const names = Array.from({ length: 40 }, (_, k) => `sample ${k}`)
    const rejected = send('together', 'rejected', { key: 'rejected', answer: 'lost' })
    const results = Promise.all(names.map((name) => send('together', name)))
    await expect(rejected).rejects.toThrow()
    expect((await results).every(({ verdict }) => verdict.status === 'scored')).toBe(true)
    const groups = await until(
      () => listGroups('together'),
      (found) => found.length === 10,
    )
    expect(groups.flat().toSorted()).toEqual(names.toSorted())
    calls.mockClear()
    await Promise.all(Array.from({ length: 60 }, (_, k) => send('together', `later ${k}`)))
    const sharing = calls.mock.calls.filter(([of]) => of.epoch === run.epoch)
    expect(sharing.length).toBeLessThan(20)
  })
})

describe('a call', () => {
  it('that its client gave up on is not counted, and its retry is', async () => {
    await begin('retries', { group_size: 2 })
    await send('retries', 'again', { answer: 'lost' })
    await send('retries', 'again', { at: other, answer: 'lost' })
    await send('retries', 'again')
    await send('retries', 'once')
    await groupsBecome('retries', [['again', 'once']])
    await sweep()
    expect(await countOpen('retries')).toBe(0)
  })

  it('whose client hangs up before the answer is not counted', async () => {
    await begin('hang-ups', { group_size: 1 })
    const url = await node.app.listen({ port: 0, host: '127.0.0.1' })
    const hungUp = Promise.withResolvers<void>()
    node.app.server.once('connection', (socket) => socket.once('close', () => hungUp.resolve()))
    const call = new AbortController()
    const record = SampleWriter.prototype.record
    const noted = Promise.withResolvers<string>()
    vi.spyOn(SampleWriter.prototype, 'record').mockImplementationOnce(async function (this: SampleWriter, ...args) {
      const result = await record.apply(this, args)
      call.abort()
      await hungUp.promise
      noted.resolve(result)
      return result
    })
    const post = (signal?: AbortSignal) =>
      fetch(`${url}/slime/hang-ups/rm`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'Q', response: 'x', label: item }),
        ...(signal && { signal }),
      })
    await expect(post(call.signal)).rejects.toThrow()
    expect(await noted.promise).toBe('gathered')
    await until(
      () => countOpen('hang-ups'),
      (open) => open === 0,
    )
    expect((await post()).status).toBe(200)
    await groupsBecome('hang-ups', [['x']])
    await sweep()
    await groupsBecome('hang-ups', [['x']])
  })

  it('with the same completion as another is another rollout', async () => {
    await begin('twins', { group_size: 4 })
    await Promise.all([node, other, node, other].map((at) => send('twins', 'I do not know', { at })))
    await groupsBecome('twins', [Array.from({ length: 4 }, () => 'I do not know')])
  })

  it('whose process dies counts once, whether its answer had left or it is sent again', async () => {
    await begin('deaths', { group_size: 3 })
    await send('deaths', 'left before the end', { answer: 'unknown' })
    await send('deaths', 'sent again', { answer: 'unknown' })
    await send('deaths', 'sent again', { at: other })
    expect(await listGroups('deaths')).toEqual([])
    await sweep()
    await send('deaths', 'third', { at: other })
    await groupsBecome('deaths', [['left before the end', 'sent again', 'third']])
  })

  it('whose process dies counts once, though a twin came elsewhere while it was alive', async () => {
    await begin('twin-of-dead', { group_size: 3 })
    await send('twin-of-dead', 'equal', { answer: 'unknown' })
    await send('twin-of-dead', 'equal', { at: other }) // another rollout
    await untilLater()
    await send('twin-of-dead', 'sign of life')
    await send('twin-of-dead', 'equal', { at: other }) // the first one, sent again
    await groupsBecome('twin-of-dead', [['equal', 'equal', 'sign of life']])
    await sweep()
    expect(await countOpen('twin-of-dead')).toBe(0)
  })

  it('whose process died with the whole server does not count before its retry could come', async () => {
    await begin('restarted', { group_size: 1 })
    await send('restarted', 'sent again', { answer: 'unknown' })
    const yearMs = 365 * 24 * 3_600_000
    expect(chooseSweepAges(59).abandonedMs).toBeGreaterThan(yearMs)
    expect(chooseSweepAges(61).abandonedMs).toBe(60_000)
    await other.features.adapters.openGroups.sweep(chooseSweepAges(59))
    expect(await listGroups('restarted')).toEqual([])
    await send('restarted', 'sent again', { at: other })
    await sweep()
    await groupsBecome('restarted', [['sent again']])
  })

  it('of a process that dies is not taken for the equal one that came to another process before', async () => {
    await begin('equal', { group_size: 3 })
    await send('equal', 'equal', { answer: 'unknown' })
    await send('equal', 'equal', { at: other })
    await untilLater()
    await send('equal', 'heard of later')
    await sweep()
    await groupsBecome('equal', [['equal', 'equal', 'heard of later']])
  })

  it('that two processes die of counts once', async () => {
    await begin('two-deaths', { group_size: 2 })
    await send('two-deaths', 'twice', { answer: 'unknown' })
    await send('two-deaths', 'twice', { at: other, answer: 'unknown' })
    await sweep()
    await send('two-deaths', 'last')
    await groupsBecome('two-deaths', [['last', 'twice']])
  })

  it('with a rollout key counts once, before and after its group is closed', async () => {
    await begin('keys', { group_size: 2 })
    await send('keys', 'one', { key: 'episode-1', answer: 'unknown' })
    await send('keys', 'one', { key: 'episode-1', at: other })
    await send('keys', 'one', { key: 'episode-1' })
    await send('keys', 'one', { key: 'episode-2' })
    await groupsBecome('keys', [['one', 'one']])
    await send('keys', 'one', { key: 'episode-1' })
    await sweep()
    expect(await countOpen('keys')).toBe(0)
    await send('keys', 'one', { key: 'episode-1', itemId: secondItem })
    expect(await countOpen('keys')).toBe(1)
  })

  it('with a rollout key that is given up while its retry is answered counts once', async () => {
    await begin('taken-over', { group_size: 1 })
    const [first, retry] = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()]
    await send('taken-over', 'x', { key: 'k', answer: first.promise })
    await send('taken-over', 'x', { key: 'k', at: other, answer: retry.promise })
    first.resolve(false)
    await send('taken-over', 'y') // settled after it
    await groupsBecome('taken-over', [['y']])
    retry.resolve(true)
    await groupsBecome('taken-over', [['x'], ['y']])
  })

  it('is refused while Redis is away, and counts once when it is sent again', async () => {
    await begin('away', { group_size: 2 })
    const record = SampleWriter.prototype.record
    vi.spyOn(SampleWriter.prototype, 'record').mockImplementationOnce(async function (this: SampleWriter, ...args) {
      await record.apply(this, args)
      throw new Error('Command timed out')
    })
    await expect(send('away', 'a', { answer: 'lost' })).rejects.toThrow('does not answer')
    await send('away', 'a')
    await send('away', 'b')
    await groupsBecome('away', [['a', 'b']])
  })
})

describe('a closed group', () => {
  it('whose process dies before it is submitted, or before it is removed, is submitted once by the sweep', async () => {
    await begin('killed', { group_size: 1 })
    const { submission } = node.features.rollouts
    const submit = submission.submit.bind(submission)
    vi.spyOn(submission, 'submit')
      .mockRejectedValueOnce(new ServiceError('redis_unavailable', 'killed before'))
      .mockImplementationOnce(async (...args) => {
        await submit(...args)
        throw new ServiceError('redis_unavailable', 'killed after')
      })
    await send('killed', 'before')
    await until(
      async () => vi.mocked(submission.submit).mock.calls.length,
      (calls) => calls === 1,
    )
    await send('killed', 'after', { itemId: secondItem })
    await groupsBecome('killed', [['after']])
    await Promise.all([sweep(), sweep(node)])
    await groupsBecome('killed', [['after'], ['before']])
    expect((await node.call('GET', '/runs/killed')).body.progress).toMatchObject({ groups: 2, rollouts: 2 })
    expect(await keysOf(node.platform.redis, `*${node.prefix}:run:killed*closed-group*`)).toEqual([])
  })

  it('waits for a trainer only where that is wanted; a full buffer delays it and rewards nobody less', async () => {
    const settings = { group_size: 1, batch_size: 1, buffer_max_groups: 1, open_group_timeout_s: 1 }
    await begin('wanted', { ...settings, buffer_open_groups: true })
    await send('wanted', 'first')
    await groupsBecome('wanted', [['first']])
    const late = await send('wanted', 'second')
    expect(late.verdict.status).toBe('scored')
    await until(
      async () => {
        await sweep()
        return listGroups('wanted')
      },
      (groups) => groups.length === 2,
    )
    const { groups } = node.features.rollouts
    const { epoch } = await node.features.runs.runs.require('wanted')
    const ids = await groups.listPendingAcceptedBefore('wanted', epoch, Number.MAX_SAFE_INTEGER, 10)
    const stored = await Promise.all(ids.map((group) => groups.get({ run: 'wanted', epoch, group })))
    expect(stored.map((group) => group?.forBuffer)).toEqual([true, false])
  })

  it('has an ID that no client can post, and that differs after a restore', async () => {
    const idsOf = async (run: string) => {
      const { epoch } = await node.features.runs.runs.require(run)
      return node.features.rollouts.groups.listPendingAcceptedBefore(run, epoch, Number.MAX_SAFE_INTEGER, 10)
    }
    await begin('named', { group_size: 1 })
    await send('named', 'x')
    await groupsBecome('named', [['x']])
    const before = await idsOf('named')
    expect(before).toEqual([expect.stringMatching(/^open-/)])
    const body = { run: 'named', item_id: item, group_id: 'open-mine', rollouts: [{ completion: 'y' }] }
    expect(await node.call('POST', '/rollouts', body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    const checkpoint = (await node.call('GET', '/runs/named/checkpoint')).body
    expect((await node.call('PUT', '/runs/named/checkpoint', checkpoint)).status).toBe(200)
    await send('named', 'x')
    await groupsBecome('named', [['x']])
    expect(await idsOf('named')).not.toEqual(before)
  })

  it('whose ID another group has is discarded with a line in the log', async () => {
    const run = await begin('taken', { group_size: 1 })
    const warn = vi.spyOn(node.platform.log, 'warn')
    const { submission } = node.features.rollouts
    const submit = submission.submit.bind(submission)
    vi.spyOn(submission, 'submit').mockImplementationOnce(async (name, groups, options) => {
      const other = groups.map((group) => ({ ...group, rollouts: [{ completion: 'other' }] }))
      await submit(name, other, options)
      return submit(name, groups, options)
    })
    await send('taken', 'mine')
    const keys = createOpenGroupKeys(node.platform.keys).forRun('taken', run.epoch)
    await until(
      async () => warn.mock.calls.length + (await node.platform.redis.zcard(keys.closedGroups)),
      (count) => count === 1 && warn.mock.calls.length === 1,
    )
    expect(warn.mock.calls[0]?.[0]).toMatchObject({ run: 'taken', code: 'group_conflict', rollouts: 1 })
    await groupsBecome('taken', [['other']])
  })

  it('that a rewind voids while it is submitted does not come back', async () => {
    await begin('voided', { group_size: 1 })
    await node.call('POST', '/runs/voided/steps', { step: 0 })
    const { submission } = node.features.rollouts
    const submit = submission.submit.bind(submission)
    const rewound = Promise.withResolvers<unknown>()
    vi.spyOn(submission, 'submit').mockImplementationOnce(async (...what) => {
      await node.call('POST', '/runs/voided/rewind', { step: 0 })
      const submitted = submit(...what)
      submitted.then(rewound.resolve, rewound.resolve)
      return submitted
    })
    await send('voided', 'lost')
    expect(await rewound.promise).toMatchObject({ code: 'run_changed' })
    await sweep()
    expect(await listGroups('voided')).toEqual([])
  })

  it('of an item that nobody can score any more is discarded', async () => {
    const run = await begin('upgraded', { group_size: 1 })
    const repository = new OpenGroupRepository(node.platform.redis, node.platform.keys)
    const itemId = encodeItemId({ ...decodeItemId(item), engine: '0.0.1' })
    const submission = { kind: 'completion' as const, completion: 'x' }
    const sample = { ...createRecordedSample({ itemId, submission }, run.settings, 'p.1'), arrived: 0, reward: null }
    await repository.write(run, { records: [sample] })
    await repository.write(run, { delivered: [sample] })
    const isThere = async () => (await repository.listClosed(run, Number.MAX_SAFE_INTEGER, 10)).length
    expect(await isThere()).toBe(1)
    await sweep()
    expect(await isThere()).toBe(0)
    expect(await listGroups('upgraded')).toEqual([])
  })
})

describe('a run', () => {
  it('with a smaller group_size closes what is there in groups of that size', async () => {
    await begin('smaller', { group_size: 16, open_group_timeout_s: 1 })
    for (const name of ['a', 'b', 'c', 'd', 'e']) await send('smaller', name, { at: other })
    await node.call('PUT', '/runs/smaller', { group_size: 2 })
    await send('smaller', 'f', { at: other }) // which has the old settings in memory
    await groupsBecome('smaller', [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ])
  })

  it('whose settings changed has its samples scored by the new ones, on every node', async () => {
    await begin('changed', { group_size: 8 })
    const { body } = await node.call('GET', `/items/${item}?reveal=true`)
    expect((await send('changed', `\\boxed{${body.answer}}`, { at: other })).verdict.reward).toBe(0)
    await node.call('PUT', '/runs/changed', { extraction: 'tag_or_boxed' })
    expect((await send('changed', `\\boxed{${body.answer}}`, { at: other })).verdict.reward).toBe(1)
  })

  it('that is restored from a checkpoint begins without the samples from before', async () => {
    await begin('restored', { group_size: 2 })
    await send('restored', 'before')
    const checkpoint = await node.call('GET', '/runs/restored/checkpoint')
    const restored = await node.call('PUT', '/runs/restored/checkpoint', checkpoint.body)
    expect(restored).toMatchObject({ status: 200, body: { forgotten: { open_groups: 1 } } })
    for (const name of ['after', 'after it']) await send('restored', name, { at: other })
    await sweep()
    await groupsBecome('restored', [['after', 'after it']])
  })

  it('that is rewound forgets the samples of later steps', async () => {
    await begin('rewound', { group_size: 2 })
    await node.call('POST', '/runs/rewound/steps', { step: 0 })
    await send('rewound', 'lost')
    expect((await node.call('POST', '/runs/rewound/rewind', { step: 0 })).body.voided).toMatchObject({ open_groups: 1 })
    for (const name of ['after', 'after it']) await send('rewound', name, { at: other })
    await sweep()
    await groupsBecome('rewound', [['after', 'after it']])
  })

  it('whose open groups take all they may has further samples scored, not gathered', async () => {
    const run = await begin('bounded', { group_size: 8 })
    const { redis, keys } = node.platform
    let calls = 0
    const record = async (limits: Partial<typeof OPEN_GROUP_LIMITS>, itemId: string) => {
      const submission = { kind: 'completion' as const, completion: 'x' }
      const sample = createRecordedSample({ itemId, submission }, run.settings, `p.${calls++}`)
      const records = [{ ...sample, arrived: 0, reward: 0 }]
      const repository = new OpenGroupRepository(redis, keys, { ...OPEN_GROUP_LIMITS, ...limits })
      return repository.write(run, { records })
    }
    expect(await record({ groups: 1 }, item)).toMatchObject({ results: ['gathered'] })
    expect(await record({ groups: 1 }, secondItem)).toMatchObject({ results: ['limit'] })
    expect(await record({ groups: 1 }, item)).toMatchObject({ results: ['gathered'] })
    expect(await record({ bytes: 30 }, item)).toMatchObject({ results: ['limit'] })
    expect(await record({ pending: 2 }, item)).toMatchObject({ results: ['limit'] })
    const counted = Number(
      await redis.hget(createOpenGroupKeys(keys).forRun(run.name, run.epoch).openGroupTotals, 'bytes'),
    )
    expect(counted).toBeGreaterThan(0)
  })
})

/** Last: a worker scores what the tests above look at. */
