import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

interface Override {
  includes: string[]
  linter: {
    rules: { style?: { noRestrictedImports?: { options: { patterns: [{ group: string[]; message: string }] } } } }
  }
}

const { overrides } = JSON.parse(readFileSync('biome.json', 'utf8')) as { overrides: Override[] }
const folders = readdirSync('src', { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
)

it('each folder says which others it may import, and lint refuses it all the rest', () => {
  const rules = new Map(
    overrides.flatMap(({ includes, linter }) => {
      const rule = linter.rules.style?.noRestrictedImports?.options.patterns[0]
      return rule ? [[includes[0], rule]] : []
    }),
  )
  for (const folder of folders.filter((name) => name !== 'dashboard')) {
    const { group = [], message = '' } = rules.get(`src/${folder}/**`) ?? {}
    const allowed = /may import ([^:]*):/.exec(message)?.[1]?.split(', ') ?? []
    const rest = folders.filter((name) => name !== folder && !allowed.includes(name)).map((name) => `**/${name}/**`)
    expect(group.toSorted(), folder).toEqual([...rest, '**/routes/**', '**/app.ts', '**/service.ts'].toSorted())
  }
})
