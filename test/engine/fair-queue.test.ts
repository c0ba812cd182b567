import { expect, it } from 'vitest'
import type { WorkKind } from '../../src/engine/engine.ts'
import { FairQueue } from '../../src/engine/fair-queue.ts'

const batchOf = (work: WorkKind, name: string) => ({
  work,
  task: name,
  request: {},
  deadlineMs: 1,
  isExpected: () => true,
  units: [{ unit: name, settle: () => {} }],
})

/** A queue, and the names of batches in the order in which they are taken; a worker is free again after each if `frees`. */
function open(
  names: [work: WorkKind, name: string][],
  { frees = true, mayStart = (_task: string): boolean => true } = {},
) {
  const queue = new FairQueue()
  const busy = new Map<string, number>()
  for (const [work, name] of names) queue.push(batchOf(work, name))
  const take = () => {
    const batch = queue.take(
      (line) => busy.get(line) ?? 0,
      ({ task }) => mayStart(task),
    )
    if (batch && !frees) busy.set(batch.work, (busy.get(batch.work) ?? 0) + 1)
    return batch?.task
  }
  return { queue, busy, take }
}

it('takes from each kind in turn, in its order, however much of one kind waits', () => {
  const many = Array.from({ length: 100 }, (_, k): [WorkKind, string] => ['dataset', `row ${k}`])
  const { take } = open([
    ...many,
    ['recipe', 'item'],
    ['run', 'position 1'],
    ['run', 'position 2'],
    ['score', 'answer'],
  ])
  expect(Array.from({ length: 7 }, take)).toEqual([
    'row 0',
    'item',
    'position 1',
    'answer',
    'row 1',
    'position 2',
    'row 2',
  ])
})

it('takes from the kind with the fewest workers first', () => {
  const { take, busy } = open(
    [
      ['dataset', 'row 0'],
      ['dataset', 'row 1'],
      ['run', 'position 1'],
      ['recipe', 'item'],
    ],
    { frees: false },
  )
  busy.set('dataset', 2).set('run', 1)
  expect(Array.from({ length: 5 }, take)).toEqual(['item', 'position 1', 'row 0', 'row 1', undefined])
})

it('passes over what may not start, and puts first what a worker had begun', () => {
  const { queue, take } = open(
    [
      ['run', 'slow 1'],
      ['run', 'quick'],
    ],
    { mayStart: (task) => !task.startsWith('slow') },
  )
  queue.pushFirst(batchOf('run', 'begun'))
  expect([take(), take(), take()]).toEqual(['begun', 'quick', undefined])
  expect([queue.units, queue.count]).toEqual([1, 1])
  expect(queue.clear().map(({ task }) => task)).toEqual(['slow 1'])
  expect(queue.units).toBe(0)
})

it('lets an item that runs no program pass those that do, also while none of these has a worker', () => {
  const { queue, take } = open([['recipe', 'item 1']])
  for (const name of ['program 1', 'program 2', 'program 3']) queue.push({ ...batchOf('recipe', name), isLast: true })
  queue.push(batchOf('recipe', 'item 2'))
  expect(Array.from({ length: 5 }, take)).toEqual(['item 1', 'program 1', 'item 2', 'program 2', 'program 3'])
})
