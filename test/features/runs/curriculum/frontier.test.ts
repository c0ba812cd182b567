import type { Item } from '@reasoning-gym-server/contract/item'
import type { CurriculumPoint } from '@reasoning-gym-server/contract/run'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createRunKeys, type RunKeys } from '../../../../src/features/runs/records.ts'
import { RequestedPositions } from '../../../../src/features/runs/sequence/requested.ts'
import { openWorld, type World } from '../../../world.ts'
import { type CurriculumRule, createFrontierRule } from './frontier-rule.ts'

const TASK = 'chain_sum'
/** Its floor is about one half on most of its ladder. */
const GUESSABLE = 'aiw'
const FRONTIER = { tasks: [TASK], complexity_mode: 'frontier' }

let world: World
beforeAll(async () => {
  world = await openWorld({ worker: true })
})
afterAll(() => world.close())

async function next(run: string, count = 1, at = world): Promise<Item[]> {
  const items: Item[] = []
  while (items.length < count)
    items.push(...((await at.call('POST', '/items', { run, count: count - items.length })).body.items ?? []))
  return items
}

/** Posts a group of which a share is right, and waits until it is scored. */
async function answer(run: string, item: Item, share: number, at = world): Promise<void> {
  const { body: shown } = await at.call('GET', `/items/${item.id}?reveal=true`)
  const rollouts = Array.from({ length: 8 }, (_, k) => ({
    completion: `<answer>${k < share * 8 ? shown.answer : 'zzz'}</answer>`,
  }))
  const { body } = await at.call('POST', '/rollouts', { run, item_id: item.id, rollouts }, { prefer: 'wait=20' })
  expect(body.status).toBe('scored')
}

const history = async (run: string, at = world): Promise<CurriculumPoint[]> =>
  (await at.call('GET', `/runs/${run}/history`)).body.points
const taskOf = async (run: string, task = TASK, at = world) => (await at.call('GET', `/runs/${run}`)).body.tasks[task]

const withoutTime = (points: CurriculumPoint[]) => points.map((point) => ({ ...point, time: '' }))

/** The rule of the simulation, on the server's ladder and its floors. */
function simulate(task: string, target?: number, scoring: 'upstream' | 'hardened' = 'upstream'): CurriculumRule {
  const { ladders, cards } = world.features.tasks
  const rungs = ladders
    .rungs(task)
    .map(({ difficulty }) => ({ difficulty, floor: cards.guessFloor(task, difficulty, scoring) }))
  return createFrontierRule(rungs, target)
}

async function keysOf(run: string, at = world): Promise<RunKeys> {
  const { epoch } = await at.features.runs.runs.require(run)
  return createRunKeys(at.platform.keys).forRun(run, epoch)
}

/** Evidence as the completion of groups leaves it. */
function evidenceOf(task: string, count: number): string[] {
  const { ladders, cards } = world.features.tasks
  const rungs = ladders.rungs(task)
  return Array.from({ length: count }, (_, k) => {
    const { difficulty = 0 } = rungs[(k * 7) % rungs.length] ?? {}
    const floor = cards.guessFloor(task, difficulty, 'upstream')
    const score = ((k * 5) % 9) / 8
    return JSON.stringify({
      step: k,
      time: `2026-01-01T00:00:00.${k}Z`,
      task,
      score,
      rollouts: 8,
      formatted: 1,
      difficulty,
      floor,
    })
  })
}

describe('the level of a run', () => {
  it.each([
    [TASK, {}, undefined],
    [TASK, { curriculum_target_accuracy: 0.8 }, 0.8],
    [GUESSABLE, { scoring: 'hardened' }, undefined],
  ])('follows the rule of the simulation: %s %j', async (task, settings, target) => {
    const run = `path-${task}-${target ?? 'signal'}`
    await world.call('PUT', `/runs/${run}`, { ...FRONTIER, tasks: [task], ...settings })
    const rule = simulate(task, target, 'scoring' in settings ? 'hardened' : 'upstream')
    for (const share of [1, 0.5, 1, 1, 0.25, 0, 1, 0.75]) {
      const [item] = (await next(run)) as [Item]
      expect(item.difficulty).toBe(rule.choose())
      await answer(run, item, share)
      const score = (await history(run)).at(-1)?.score ?? -1
      rule.learn(item.difficulty ?? -1, score, 8)
    }
    const points = await history(run)
    expect(points).toHaveLength(8)
    expect(points.at(-1)?.difficulty).toBe(rule.choose())
    const { difficulty, place, interval, slope, floor } = await taskOf(run, task)
    expect(points.at(-1)).toMatchObject({ difficulty, place, interval, slope, floor })
    expect(interval[0]).toBeLessThan(place)
    expect(place).toBeLessThan(interval[1])
  })

  it('counts every group at the difficulty of its item, however late it comes, and no item that the run did not issue', async () => {
    await world.call('PUT', '/runs/late', FRONTIER)
    const items = await next('late', 6)
    for (const item of items) await answer('late', item, 1)
    const points = await history('late')
    expect(points.map(({ item }) => item?.difficulty)).toEqual(items.map(({ difficulty }) => difficulty))
    expect(points.at(-1)?.difficulty).toBeGreaterThan(items[0]?.difficulty ?? 1)
    const [foreign] = (await world.call('POST', '/items', { task: TASK, difficulty: 0.3, seed: 5 })).body.items
    await answer('late', foreign, 1)
    expect(await history('late')).toHaveLength(6)
  })

  it('does not climb on guesses: what the best guess earns is nothing', async () => {
    const task = GUESSABLE
    await world.call('PUT', '/runs/guesser', { ...FRONTIER, tasks: [task], curriculum_target_accuracy: 0.5 })
    const keys = await keysOf('guesser')
    const { ladders, cards } = world.features.tasks
    const start = (await next('guesser'))[0]?.difficulty ?? -1
    const floorAt = (difficulty: number) => cards.guessFloor(task, difficulty, 'upstream')
    expect(floorAt(start)).toBeGreaterThan(0.3)
    const rungs = ladders.rungs(task).map(({ difficulty }) => ({ difficulty, floor: 0 }))
    const withoutFloors = createFrontierRule(rungs, 0.5)
    for (let k = 0; k < 30; k++) {
      const difficulty = (await taskOf('guesser', task))?.difficulty ?? start
      const rung = ladders.rungs(task)[ladders.indexAt(task, difficulty)]?.difficulty ?? 0
      const piece = {
        step: 0,
        time: '',
        task,
        score: floorAt(rung),
        rollouts: 8,
        formatted: 1,
        difficulty: rung,
        floor: floorAt(rung),
      }
      await world.platform.redis.rpush(keys.frontierEvidence, JSON.stringify(piece))
      await history('guesser')
      const asked = withoutFloors.choose()
      withoutFloors.learn(asked, floorAt(asked), 8)
    }
    expect(withoutFloors.choose()).toBeGreaterThan(0.3)
    expect((await history('guesser')).at(-1)?.difficulty).toBeLessThan(0.2)
  })

  it('stays within the bounds of its task, and a task without a ladder has none', async () => {
    const tasks = [{ task: TASK, difficulty: [0.4, 0.6] }, 'list_functions', { task: 'gcd', config: { max_value: 50 } }]
    await world.call('PUT', '/runs/bounds', { ...FRONTIER, tasks })
    const items = await next('bounds', 24)
    expect(new Set(items.map(({ task }) => task)).size).toBe(3)
    for (const item of items) {
      if (item.task === TASK) expect(Math.abs((item.difficulty ?? 0) - 0.5)).toBeLessThanOrEqual(0.1)
      else expect(item.difficulty).toBeNull()
    }
    const one = (task: string) => items.filter((item) => item.task === task).slice(0, 2)
    for (const item of [...one(TASK), ...one('gcd')]) await answer('bounds', item, 1)
    const points = await history('bounds')
    expect(new Set(points.map(({ task }) => task))).toEqual(new Set([TASK]))
    expect(Math.max(...points.map(({ difficulty }) => difficulty))).toBeLessThanOrEqual(0.6)
  })
})

describe('evidence', () => {
  it('is folded once and in order by processes that fold at the same time, whatever the size of their portions', async () => {
    await world.call('PUT', '/runs/alone', FRONTIER)
    await world.call('PUT', '/runs/together', FRONTIER)
    const other = await openWorld({ prefix: world.prefix })
    try {
      const evidence = evidenceOf(TASK, 240)
      const { redis } = world.platform
      const [alone, together] = [await keysOf('alone'), await keysOf('together')]
      for (let k = 0; k < evidence.length; k += 7) {
        await redis.rpush(alone.frontierEvidence, ...evidence.slice(k, k + 7))
        await world.features.runs.frontier.fold(await world.features.runs.runs.require('alone'))
      }
      await redis.rpush(together.frontierEvidence, ...evidence.slice(0, 210)) // more than one portion
      const run = await world.features.runs.runs.require('together')
      const fold = (at: World) => at.features.runs.frontier.fold(run)
      await Promise.all([fold(world), fold(other), redis.rpush(together.frontierEvidence, ...evidence.slice(210))])
      await Promise.all([fold(other), fold(world), fold(world)])
      expect(await history('together')).toEqual(await history('alone'))
      expect(await history('alone')).toHaveLength(240)
      expect(await redis.hgetall(together.frontierWeights)).toEqual(await redis.hgetall(alone.frontierWeights))
      expect(await redis.llen(together.frontierEvidence)).toBe(0)
    } finally {
      await other.close()
    }
  })

  it('of a process that died before it folded is folded by the next request for items', async () => {
    const dying = await openWorld()
    const { fold } = dying.features.runs.frontier
    dying.features.runs.frontier.fold = () => Promise.reject(new Error('the process is gone'))
    try {
      await dying.call('PUT', '/runs/killed', FRONTIER)
      const { prefix } = dying
      const heir = await openWorld({ prefix })
      try {
        const [item] = (await next('killed', 1, heir)) as [Item]
        dying.startWorker()
        await answer('killed', item, 1, heir)
        await dying.stopWorkers()
        const keys = await keysOf('killed', heir)
        const { redis } = heir.platform
        expect(await redis.llen(keys.frontierEvidence)).toBe(1)
        expect(await redis.llen(keys.curriculumHistory)).toBe(0)
        const [following] = (await next('killed', 1, heir)) as [Item]
        const rule = simulate(TASK)
        rule.choose()
        rule.learn(item.difficulty ?? -1, 1, 8)
        expect(following.difficulty).toBe(rule.choose())
        expect(await redis.llen(keys.frontierEvidence)).toBe(0)
      } finally {
        await heir.close()
      }
    } finally {
      dying.features.runs.frontier.fold = fold
      await dying.close()
    }
  })

  it('that nobody folds is bounded, and what is dropped is not folded in its place', async () => {
    await world.call('PUT', '/runs/full', FRONTIER)
    const keys = await keysOf('full')
    const { redis } = world.platform
    const pieces = evidenceOf(TASK, 10_000)
    const [item] = (await next('full')) as [Item]
    const { frontier, runs } = world.features.runs
    const { fold } = frontier
    frontier.fold = () => Promise.resolve([])
    try {
      await redis.rpush(keys.frontierEvidence, ...pieces)
      await answer('full', item, 1)
      expect(await redis.llen(keys.frontierEvidence)).toBe(10_000)
      expect(await redis.lindex(keys.frontierEvidence, 0)).toBe(pieces[1])
      await redis.ltrim(keys.frontierEvidence, -3, -1)
    } finally {
      frontier.fold = fold // the next prefetch folds what is there
    }
    await frontier.fold(await runs.require('full'))
    expect((await history('full')).map(({ step }) => step)).toEqual([9998, 9999, 0])
  })
})

describe('the frontier', () => {
  it('goes with a checkpoint, and so does evidence that nobody has folded', async () => {
    await world.call('PUT', '/runs/source', FRONTIER)
    for (const share of [1, 0.5, 1]) await answer('source', (await next('source'))[0] as Item, share)
    const keys = await keysOf('source')
    const { checkpoints, frontier } = world.features.runs
    const { fold } = frontier
    frontier.fold = () => Promise.resolve([]) // as if the group came in after the fold
    const checkpoint = await (async () => {
      try {
        await world.platform.redis.rpush(keys.frontierEvidence, ...evidenceOf(TASK, 2))
        return await checkpoints.create('source')
      } finally {
        frontier.fold = fold
      }
    })()
    const stored = JSON.parse(JSON.stringify(checkpoint))
    expect((await world.call('PUT', '/runs/copy/checkpoint', stored)).status).toBe(200)
    expect(withoutTime(await history('copy'))).toEqual(withoutTime(await history('source')))
    expect(await history('copy')).toHaveLength(5)
    for (const share of [0.25, 1]) {
      for (const run of ['source', 'copy']) await answer(run, (await next(run))[0] as Item, share)
      expect(withoutTime(await history('copy'))).toEqual(withoutTime(await history('source')))
    }
    const edited = { ...stored, curriculum: { [TASK]: { ...stored.curriculum[TASK] } } }
    edited.curriculum[TASK].frontier = { ...edited.curriculum[TASK].frontier, weights: 'AAAA' }
    const refused = await world.call('PUT', '/runs/copy/checkpoint', edited)
    expect(refused.body).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: `curriculum.${TASK}.frontier.weights` }],
    })
  })

  it('goes on from the level of another mode, and its target may change', async () => {
    await world.call('PUT', '/runs/changing', { tasks: [TASK], complexity_mode: 'curriculum' })
    for (let k = 0; k < 3; k++) await answer('changing', (await next('changing'))[0] as Item, 1)
    expect(await taskOf('changing')).toMatchObject({ difficulty: 0.4, place: null, interval: null })
    await world.call('PUT', '/runs/changing', { complexity_mode: 'frontier' })
    const { ladders } = world.features.tasks
    const [first] = (await next('changing')) as [Item]
    expect(ladders.indexAt(TASK, first.difficulty ?? -1)).toBe(ladders.indexAt(TASK, 0.4))
    await answer('changing', first, 0.5)
    const { difficulty: signal, place } = await taskOf('changing')
    expect(place).toEqual(expect.any(Number))
    await world.call('PUT', '/runs/changing', { curriculum_target_accuracy: 0.98 })
    await answer('changing', (await next('changing'))[0] as Item, 0.5)
    expect((await taskOf('changing')).difficulty).toBeLessThan(signal)
    await world.call('PUT', '/runs/changing', { complexity_mode: 'curriculum' })
    await answer('changing', (await next('changing'))[0] as Item, 0.5)
    expect(await history('changing')).toHaveLength(6)
    expect(await taskOf('changing')).toMatchObject({ place: null, slope: null })
  })

  it('leaves the level to the mode that the run has changed to, also in a checkpoint', async () => {
    await world.call('PUT', '/runs/left', { tasks: [TASK], complexity_mode: 'curriculum' })
    await answer('left', (await next('left'))[0] as Item, 1)
    await world.platform.redis.rpush((await keysOf('left')).frontierEvidence, ...evidenceOf(TASK, 3)) // not folded in time
    const { curriculum, curriculum_history } = await world.features.runs.checkpoints.create('left')
    expect(curriculum[TASK]).toEqual({ level: (await taskOf('left')).difficulty, accuracy: 1, scores: [1] })
    expect(curriculum_history).toEqual(await history('left'))
  })

  it('starts again when the trainer says that its policy has changed', async () => {
    await world.call('PUT', '/runs/reset', { ...FRONTIER, sampling: 'learnability' })
    const start = (await next('reset'))[0]?.difficulty
    for (let k = 0; k < 4; k++) await answer('reset', (await next('reset'))[0] as Item, 0)
    expect((await taskOf('reset')).difficulty).toBeLessThan(start ?? 0)
    await world.platform.redis.rpush((await keysOf('reset')).frontierEvidence, ...evidenceOf(TASK, 3)) // not folded yet
    const { status, body } = await world.call('POST', '/runs/reset/curriculum-reset')
    expect(status).toBe(200)
    expect(body.tasks[TASK]).toMatchObject({ difficulty: null, place: null })
    expect(await history('reset')).toHaveLength(4)
    const [item] = (await next('reset')) as [Item]
    expect(item.difficulty).toBe(start)
    await answer('reset', item, 1)
    expect((await taskOf('reset')).difficulty).toBeGreaterThan(start ?? 1)
    expect((await world.call('POST', '/runs/missing/curriculum-reset')).body.code).toBe('unknown_run')
  })

  it('starts again for items that are being made, too', async () => {
    await world.call('PUT', '/runs/midway', { tasks: [TASK], complexity_mode: 'curriculum' })
    const start = (await next('midway'))[0]?.difficulty
    for (let k = 0; k < 4; k++) await answer('midway', (await next('midway'))[0] as Item, 1)
    expect((await taskOf('midway')).difficulty).toBeGreaterThan(start ?? 1)
    const { requestStep } = RequestedPositions.prototype
    const requests = vi.spyOn(RequestedPositions.prototype, 'requestStep').mockImplementationOnce(requestStep)
    requests.mockImplementationOnce(async function (this: RequestedPositions, ...of) {
      await world.call('POST', '/runs/midway/curriculum-reset') // some items of the step are made, and others are in the making
      return requestStep.apply(this, of)
    })
    const step = { run: 'midway', step: 0, count: 100 }
    const { body } = await world.call('POST', '/items', step, { prefer: 'wait=60' })
    expect(requests.mock.calls.length).toBeGreaterThan(1)
    expect(new Set(body.items.map(({ difficulty }: Item) => difficulty))).toEqual(new Set([start]))
  })

  it('is what the preset clean follows', async () => {
    const { body } = await world.call('PUT', '/runs/clean', { preset: 'clean', tasks: [TASK] })
    expect(body.settings.complexity_mode).toBe('frontier')
    expect((await next('clean'))[0]?.difficulty).toBe(simulate(TASK, undefined, 'hardened').choose())
  })
})
