import { afterAll, beforeAll, expect, it } from 'vitest'
import { openWorld, type World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld({ SCORE_DEADLINE_MS: 20_000 }) // the machine may have more to do
})
afterAll(() => world.close())

const score = async (task: string, answers: string[], scoring: string) => {
  const rollouts = answers.map((answer) => ({ recipe: { task, seed: 7 }, answer }))
  return (await world.call('POST', '/score', { rollouts, scoring, dual_format: false })).body.verdicts
}

it('hardens what the Python hosts score, too', async () => {
  const { items } = (await world.call('POST', '/items', { task: 'simple_integration', seed: 7 })).body
  const { answer } = (await world.call('GET', `/items/${items[0].id}?reveal=true`)).body
  const wrapped = `$${answer}$`
  const [upstream] = await score('simple_integration', [wrapped], 'upstream')
  expect(upstream.score).toBeLessThan(1)
  const hardened = await score('simple_integration', [wrapped, answer, 'x +', '0'], 'hardened')
  expect(hardened.map((verdict: { score: number }) => verdict.score)).toEqual([1, 1, 0, 0])
})

it('gives a long answer on a thread the verdict that a short one has', async () => {
  const pad = ' '.repeat(5000)
  const [short, long] = await score('spiral_matrix', ['1 2 3', `1 2 3${pad}`], 'upstream')
  expect({ ...long, answer: '' }).toEqual({ ...short, answer: '' })
})
