import { expect, it } from 'vitest'
import { listTaskSamples, locateSample } from '../../../../src/features/evals/kinds/frontier.ts'

it.each([
  [1, 4],
  [1, 7],
  [3, 10],
  [5, 20],
])('%d tasks of %d items: every sample is one item of one task, and rounds follow each other', (count, n) => {
  const tasks = Array.from({ length: count }, (_, k) => `task_${k}`)
  const plan = { tasks, items_per_task: n, seed: 0, left_out: {} }
  const located = Array.from({ length: count * n }, (_, sample) => locateSample(plan, sample))
  expect(new Set(located.map(({ task, index }) => `${task}/${index}`)).size).toBe(count * n)
  for (const [sample, { task, index, round }] of located.entries()) {
    expect(listTaskSamples(plan, task, index, index + 1)).toEqual([sample])
    const earlier = listTaskSamples(plan, task, 0, round.start)
    expect(Math.max(-1, ...earlier)).toBeLessThan(sample) // so that no slot waits for a sample that nobody has claimed
  }
})
