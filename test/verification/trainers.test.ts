import { existsSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { describePackages, readFamilies } from '../../verification/trainers/versions.ts'

const FOLDER = join(import.meta.dirname, '..', '..', 'verification', 'trainers')
const families = readFamilies()

it('every script of a trainer has an entry in versions.json', () => {
  const scripts = globSync(join(FOLDER, '*.py')).map((file) => basename(file, '.py'))
  const known = families.map(({ script }) => basename(script, '.py'))
  expect(scripts.filter((name) => !known.includes(name))).toEqual([])
})

it('every family has a script, and the packages of one that is proven are pinned', () => {
  for (const family of families) {
    expect([family.name, existsSync(family.script)]).toEqual([family.name, true])
    if (family.proven === null) continue
    expect(describePackages(family), family.name).not.toBe('')
  }
})

it('the quick ones need no torch', () => {
  expect(families.filter(({ quick, torch }) => quick && torch).map(({ name }) => name)).toEqual([])
})
