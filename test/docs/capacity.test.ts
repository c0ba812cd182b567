import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { computeCapacity } from '../../scripts/capacity/model.ts'
import { replaceCapacityTable } from '../../scripts/capacity/table.ts'

it('docs/design/capacity.md has what the model computes: npm run docs:capacity', () => {
  const page = readFileSync(new URL('../../docs/design/capacity.md', import.meta.url), 'utf8')
  expect(replaceCapacityTable(page)).toBe(page)
})

it('no part of a deployment is used beyond its limit, except the one that the table names', () => {
  for (const nodes of [1, 8, 64, 512]) {
    const { runMasterUse, queueMasterUse, bottleneck } = computeCapacity(nodes)
    expect(queueMasterUse).toBeLessThanOrEqual(runMasterUse)
    expect(bottleneck.includes('the master of the run')).toBe(runMasterUse > 0.6)
  }
})
