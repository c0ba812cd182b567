import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { computeCapacity, replaceCapacityTable } from '../../scripts/capacity.ts'

it('docs/design/capacity.md has what the model computes; a mismatch rewrites it', () => {
  const file = new URL('../../docs/design/capacity.md', import.meta.url)
  const page = readFileSync(file, 'utf8')
  const wanted = replaceCapacityTable(page)
  if (page !== wanted) writeFileSync(file, wanted)
  expect(page === wanted, 'the table was out of date and has been rewritten: review and commit it').toBe(true)
})

it('no part of a deployment is used beyond its limit', () => {
  for (const nodes of [1, 8, 64, 512]) {
    const { runMasterUse, queueMasterUse } = computeCapacity(nodes)
    expect(Math.max(runMasterUse, queueMasterUse)).toBeLessThanOrEqual(0.6)
  }
})
