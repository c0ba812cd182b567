import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const PAGE = readFileSync('verification/workarounds.md', 'utf8')
const ROWS = new Map(
  [...PAGE.matchAll(/^\| `([^`]+)` \|.*\| `([^`]+)` \|$/gm)].map(([, file = '', measure]) => [file, measure]),
)

/** The comments of files that say when they can be deleted, by path as the page names it. */
const HEADERS = new Map(
  globSync('{src,routes,packages}/**/*.{ts,js,py,lua}', { exclude: ['**/node_modules/**'] })
    .map((file) => [file, readFileSync(file, 'utf8')] as const)
    .filter(([, text]) => text.includes('Delete when'))
    .map(([file, text]) => [file.replace(/^(?:src|packages)\//, '').replace('/src/', '/'), text]),
)

it('the page lists every file that says when it can be deleted, and no other', () => {
  expect([...ROWS.keys()].toSorted()).toEqual([...HEADERS.keys()].toSorted())
})

it.each([...HEADERS])('%s states symptom, gain and condition, and the command of the page', (file, text) => {
  for (const part of ['Symptom', 'Gain', 'Delete when']) expect(text).toMatch(new RegExp(`^ \\* ${part}: .`, 'm'))
  expect(/^ \* Measure: (.+)$/m.exec(text)?.[1]).toBe(ROWS.get(file))
})
