import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const FOLDER = join(import.meta.dirname, '..', 'src')
const LINES_MOST = 300

const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
const textsOf = (ending: string) =>
  new Map(files.filter((name) => name.endsWith(ending)).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')]))
const sheets = textsOf('.css')
const styles = [...sheets.values()].join('\n')
/** Names of classes stand in strings and templates: names of members and variables do not count. */
const quoted = [...textsOf('.js').values()].flatMap(
  (text) => text.match(/'[^'\n]*'|"[^"\n]*"|class=\$\{`[^`]*`/g) ?? [],
)
const words = new Set(quoted.flatMap((text) => text.match(/[a-z0-9-]+/g) ?? []))

it('every class of a stylesheet is used by a page', () => {
  const classes = new Set([...styles.matchAll(/\.([a-z][a-z0-9-]*)/g)].map(([, name]) => name))
  expect([...classes].filter((name) => name !== undefined && !words.has(name))).toEqual([])
})

it('every colour, size and face that has a name is used', () => {
  const named = new Set([...styles.matchAll(/^\s+(--[a-z0-9-]+):/gm)].map(([, name]) => name))
  const texts = [styles, ...textsOf('.js').values()].join('\n')
  const unused = [...named].filter((name) => !texts.includes(`var(${name})`) && !texts.includes(`'${name}'`))
  expect(unused.filter((name) => !/^--series-\d$/.test(String(name)))).toEqual([])
})

it('a stylesheet is short, and the page asks for it', () => {
  const page = readFileSync(join(FOLDER, 'index.html'), 'utf8')
  for (const [name, text] of sheets) {
    expect(page).toContain(`dashboard/${name}`)
    expect(text.split('\n').length, name).toBeLessThanOrEqual(LINES_MOST)
  }
})
