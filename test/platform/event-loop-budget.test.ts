import { expect, it } from 'vitest'
import { EventLoopBudget } from '../../src/platform/event-loop-budget.ts'

const STEP_MS = 4

function work(): void {
  for (const end = performance.now() + STEP_MS; performance.now() < end; ) Math.sqrt(end)
}

it('lets the event loop turn between the steps of many computations, and runs them in order', async () => {
  const slices = new EventLoopBudget()
  const ran: number[] = []
  const turnOf = new Map<number, number>()
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(
    Array.from({ length: 25 }, async (_, k) => {
      await slices.run(work)
      ran.push(k)
      turnOf.set(k, turn)
    }),
  )
  isOver = true
  expect(ran).toEqual([...ran.keys()])
  const perTurn = Map.groupBy(turnOf.values(), (of) => of)
  expect(Math.max(...[...perTurn.values()].map((of) => of.length))).toBeLessThanOrEqual(4) // 10 ms, and the step that passes it
})

it('runs a step at once where there is time, and passes its failure on', async () => {
  expect(new EventLoopBudget().run(() => 7)).toBe(7)
  const slices = new EventLoopBudget()
  expect(() =>
    slices.run(() => {
      throw new Error('now')
    }),
  ).toThrow('now')
  void slices.run(() => {
    for (let k = 0; k < 4; k++) work()
  })
  const later = slices.run(() => {
    throw new Error('later')
  })
  await expect(later).rejects.toThrow('later')
})
