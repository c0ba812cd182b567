import { parsePlainRecipe, RecipeInput } from '@reasoning-gym-server/contract/recipe'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ScoreBody } from '../../routes/score.ts'
import { compileValidator } from '../../src/http/validation.ts'

const validate = compileValidator({ schema: ScoreBody, httpPart: 'body' })

const odd = fc.constantFrom<unknown[]>(undefined, null, -1, 0.5, 2 ** 32, '1', '', 'strict', [], {}, true)
const recipe = fc.record(
  {
    task: fc.constantFrom<unknown[]>('chain_sum', 'no such', '', 7, undefined),
    seed: fc.oneof(fc.nat(), odd),
    index: fc.oneof(fc.nat(), odd),
    config: odd,
    engine: odd,
    constructor: odd,
  },
  { requiredKeys: [] },
)
const rollout = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      recipe: fc.record({ task: fc.constant('chain_sum'), seed: fc.nat() }),
      completion: fc.string(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ item_id: fc.string(), completion: fc.string() }) },
  {
    weight: 2,
    arbitrary: fc.record(
      { recipe, item_id: odd, completion: fc.oneof(fc.string(), odd), answer: odd },
      { requiredKeys: [] },
    ),
  },
  odd,
)
const body = fc.record(
  {
    rollouts: fc.oneof(fc.array(rollout, { maxLength: 4 }), odd),
    groups: odd,
    extraction: fc.oneof(fc.constantFrom('last_tag', 'bare', 'none'), odd),
    dual_format: odd,
    detail: fc.constantFrom<unknown[]>('rewards', undefined, 3),
    more: odd,
  },
  { requiredKeys: ['rollouts'] },
)

it('a plain body of POST /score is read as its schema reads it, and refused where that refuses it', () => {
  fc.assert(
    fc.property(body, (value) => {
      const json = JSON.parse(JSON.stringify(value)) as unknown
      const [given, wanted] = [validate(json), ScoreBody.safeParse(json)]
      expect('value' in given).toBe(wanted.success)
      if (wanted.success) expect(given).toEqual({ value: wanted.data })
    }),
    { numRuns: 2000 },
  )
})

it('a plain recipe is read as its schema reads it', () => {
  fc.assert(
    fc.property(recipe, (value) => {
      const json = JSON.parse(JSON.stringify(value)) as unknown
      const plain = parsePlainRecipe(json)
      if (plain) expect(plain).toEqual(RecipeInput.parse(json))
    }),
    { numRuns: 2000 },
  )
  expect(parsePlainRecipe({ task: 'chain_sum', index: 3 })).toEqual({ task: 'chain_sum', seed: 0, index: 3 })
})
