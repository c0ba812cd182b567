/** docs/reference/access.md lists the access rules that the routes declare. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildAccessPage } from '../../scripts/reference/access.ts'
import { openWorld, type World } from '../world.ts'

const FILE = new URL('../../docs/reference/access.md', import.meta.url)

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

it('docs/reference/access.md matches the routes; a mismatch rewrites it', () => {
  const written = existsSync(FILE) ? readFileSync(FILE, 'utf8') : ''
  const wanted = buildAccessPage(world.app.accessRules)
  if (written !== wanted) writeFileSync(FILE, wanted)
  expect(
    written === wanted,
    'docs/reference/access.md was out of date and has been rewritten: review and commit it',
  ).toBe(true)
})
