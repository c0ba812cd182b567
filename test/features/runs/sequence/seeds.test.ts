import { SEEDS_END, TRAINING_SEEDS_START } from '@reasoning-gym-server/contract/recipe'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { positionOfSeed, SEEDS_PER_POSITION, seedAt } from '../../../../src/features/runs/sequence/sequence.ts'

const runSeed = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const position = fc.integer({ min: 0, max: 2 ** 27 - 1 })

it('each seed of a position is a training seed that leads back to the position', () => {
  fc.assert(
    fc.property(runSeed, position, (run, at) => {
      const seeds = Array.from({ length: SEEDS_PER_POSITION }, (_, retry) => seedAt(run, at, retry))
      expect(new Set(seeds).size).toBe(SEEDS_PER_POSITION)
      for (const seed of seeds) {
        expect(seed >= TRAINING_SEEDS_START && seed < SEEDS_END).toBe(true)
        expect(positionOfSeed(run, seed)).toBe(at)
      }
    }),
  )
})

it('two positions have no seed in common', () => {
  fc.assert(
    fc.property(runSeed, position, position, (run, a, b) => {
      fc.pre(a !== b)
      const seeds = [a, b].flatMap((at) => Array.from({ length: SEEDS_PER_POSITION }, (_, k) => seedAt(run, at, k)))
      expect(new Set(seeds).size).toBe(seeds.length)
    }),
  )
})
