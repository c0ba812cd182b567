import { expect, it } from 'vitest'
import { simulateItems } from './item-simulation.ts'

it('predicting items gives more groups with signal where sizes tell them apart, and no fewer where they do not', () => {
  const mix = { deviation: 2.5, rollouts: 8 }
  const any = simulateItems({ ...mix, explained: 0.8 }, 'any', 101)
  const bySize = simulateItems({ ...mix, explained: 0.8 }, 'predicted', 101)
  const byLuck = simulateItems({ ...mix, explained: 0 }, 'predicted', 101)
  expect(bySize.signal).toBeGreaterThan(any.signal + 0.05)
  expect(byLuck.signal).toBeGreaterThan(any.signal - 0.02)
  expect(Math.min(bySize.fewest, byLuck.fewest)).toBeGreaterThan(5)
}, 60_000)
