import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeItemId, encodeItemId, MAX_ITEM_ID_CHARS } from '../src/item-id.ts'
import type { Recipe } from '../src/recipe.ts'

const recipes: fc.Arbitrary<Recipe> = fc.record({
  task: fc.stringMatching(/^[a-z0-9_]{1,30}$/),
  config: fc
    .dictionary(fc.stringMatching(/^[a-z][a-z_]{0,8}$/), fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer())), {
      maxKeys: 4,
    })
    .map((config) => ({ ...config })),
  difficulty: fc.option(fc.double({ min: 0, max: 1, noNaN: true }).map((x) => x + 0)),
  seed: fc.integer({ min: 0, max: 2 ** 31 }),
  index: fc.integer({ min: 0, max: 2 ** 30 }),
  engine: fc.constant('0.1.25'),
})

it('an id spells its recipe, in characters that a URL takes as they are', () => {
  fc.assert(
    fc.property(recipes, (recipe) => {
      const id = encodeItemId(recipe)
      expect(id).toMatch(/^[\w.-]+$/)
      expect(decodeItemId(id)).toEqual(JSON.parse(JSON.stringify(recipe)))
    }),
  )
})

it('what is no id is refused, whatever it is', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.tuple(fc.string(), fc.string(), fc.string(), fc.base64String()).map((parts) => parts.join('.')),
      ),
      (text) => {
        expect(() => decodeItemId(text)).toThrow(expect.objectContaining({ code: 'invalid_item_id' }))
      },
    ),
  )
})

it('an id has one spelling', () => {
  const id = encodeItemId({ task: 'gcd', config: {}, difficulty: null, seed: 1, index: 2, engine: '0.1.25' })
  for (const other of [`${id}=`, id.replace('.1.', '.01.'), `${id}.`, id.toUpperCase(), ` ${id}`])
    expect(() => decodeItemId(other)).toThrow()
})

it.each([
  '["0.1.25",null,{"__proto__":{"min_animals":3}}]',
  '["0.1.25",null,{"constructor":{"prototype":{}}},1]',
  '{"0":"0.1.25","1":null,"2":{},"length":3}',
  '["0.1.25",2,{}]',
  '["0.1.25",null,null]',
  `["0.1.25",null,${'['.repeat(500)}${']'.repeat(500)}]`,
])('an id that spells %s is refused', (rest) => {
  const id = `leg_counting.1.0.${Buffer.from(rest).toString('base64url')}`
  expect(() => decodeItemId(id)).toThrow(expect.objectContaining({ code: 'invalid_item_id' }))
  expect('min_animals' in {}).toBe(false)
})

it('a config that does not fit into an id is refused', () => {
  const recipe = {
    task: 'aiw',
    config: { male_names: Array(400).fill('James') },
    difficulty: null,
    seed: 1,
    index: 0,
    engine: '0.1.25',
  }
  expect(() => encodeItemId(recipe)).toThrow(`the limit is ${MAX_ITEM_ID_CHARS}`)
})
