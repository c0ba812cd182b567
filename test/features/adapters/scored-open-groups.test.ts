/** Open groups whose groups a worker scores: samples count once in the run, its curriculum and its metrics. */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { Grader } from '../../../src/grading/grader.ts'
import { keysOf, until } from '../../world.ts'
import { begin, closeNodes, node, openNodes, other, secondItem, send } from './open-group-nodes.ts'

beforeAll(async () => {
  await openNodes()
  other.startWorker()
})
afterEach(() => vi.restoreAllMocks())
afterAll(closeNodes)

it('samples are rewarded at once and counted by the run, its curriculum and its metrics as one group', async () => {
  await begin('scored', { group_size: 2, complexity_mode: 'curriculum' })
  const made = await node.call('POST', '/items', { task: 'chain_sum', seed: 1 }) // no other test uses the task
  const itemId = made.body.items[0].id
  const { body } = await node.call('GET', `/items/${itemId}?reveal=true`)
  const readScoredRollouts = async () => {
    for (const { features } of [node, other]) await features.tasks.statistics.flush()
    return (await node.features.tasks.statistics.read('chain_sum')).rollouts
  }
  const before = await readScoredRollouts()
  const grade = vi.spyOn(Grader.prototype, 'grade')
  const right = await send('scored', `<answer>${body.answer}</answer>`, { itemId })
  const wrong = await send('scored', '<answer>-1</answer>', { at: other, itemId })
  expect([right.verdict.reward, wrong.verdict.reward]).toEqual([1, 0])
  const run = await until(
    () => node.call('GET', '/runs/scored'),
    ({ body: { progress } }) => progress.scored_groups === 1,
    60_000,
  )
  expect(run.body.progress).toMatchObject({ groups: 1, rollouts: 2, buffered_groups: 0, open_groups: 0 })
  expect(run.body.tasks.chain_sum).toMatchObject({ groups: 1, rollouts: 2, mean_reward: 0.5 })
  expect(await readScoredRollouts()).toBe(before + 2)
  const countGrades = () => grade.mock.calls.filter(([{ task }]) => task === 'chain_sum').length
  expect(countGrades()).toBe(0) // the verdicts were known
  await send('scored', 'sent before the change', { itemId })
  await node.call('PUT', '/runs/scored', { extraction: 'tag_or_boxed' })
  await send('scored', `\\boxed{${body.answer}}`, { itemId })
  const { body: page } = await until(
    () => node.call('GET', '/runs/scored/groups?full=true'),
    ({ body: { groups } }) => groups.length === 2,
    60_000,
  )
  expect(countGrades()).toBe(1)
  expect(page.groups.map(({ mean_reward }: { mean_reward: number }) => mean_reward)).toEqual([0.5, 0.5])
  expect(await readScoredRollouts()).toBe(before + 4)
}, 120_000)

it('a run that is deleted takes its open groups along, and its next one begins without them', async () => {
  await begin('deleted', { group_size: 2 })
  const { name, epoch } = await node.features.runs.runs.require('deleted')
  await send('deleted', 'before')
  await send('deleted', 'on its way', { answer: 'unknown', itemId: secondItem })
  await node.call('DELETE', '/runs/deleted')
  await until(
    () => keysOf(node.platform.redis, `{${node.prefix}:run:${name}}:${epoch}:*`),
    (keys) => keys.length === 0,
    60_000,
  )
  await begin('deleted', { group_size: 2 })
  for (const text of ['after', 'after it']) await send('deleted', text, { at: other })
  const { body } = await until(
    () => node.call('GET', '/runs/deleted/groups?full=true'),
    ({ body: page }) => page.groups.length > 0,
    60_000,
  )
  expect(body.groups).toHaveLength(1)
  expect(body.groups[0].completions.map(({ text }: { text: string }) => text)).toEqual(['after', 'after it'])
}, 120_000)
