import { expect, it } from 'vitest'
import { ListedItems } from '../../../src/features/evals/job-items.ts'

/** An eval with two samples of each of three items, the second of a frozen suite; and what is read of its list. */
function openList(lines = ['a', 'b\thash', 'c']) {
  const reads: string[] = []
  const samples = {
    async listItems() {
      reads.push('all')
      return lines
    },
    async getItem(_id: string, index: number) {
      reads.push(`item ${index}`)
      return lines[index]
    },
  }
  const job = { id: 'eval-0123456789ab', spec: { kind: 'eval', samples_per_item: 2 } }
  const items = new ListedItems(job as unknown as ConstructorParameters<typeof ListedItems>[0], samples)
  return { items, reads }
}

it('samples are numbered item by item', async () => {
  const { items } = openList()
  const { items: known, indexOf } = await items.list()
  expect(known).toEqual([
    { id: 'a', questionHash: undefined },
    { id: 'b', questionHash: 'hash' },
    { id: 'c', questionHash: undefined },
  ])
  expect([0, 1, 2, 5].map(indexOf)).toEqual([0, 0, 1, 2])
  expect((await items.at([5, 2])).map((item) => item?.id)).toEqual(['c', 'b'])
})

it('a single sample reads one item, and several read the list once', async () => {
  const { items, reads } = openList()
  expect(await items.choose(3)).toEqual({ id: 'b', questionHash: 'hash' })
  expect(await items.at([4])).toMatchObject([{ id: 'c' }])
  await items.at([0, 1])
  await items.at([2, 3])
  await items.at([5])
  expect(reads).toEqual(['item 1', 'item 2', 'all'])
})

it('the items of expired samples are unknown', async () => {
  const { items } = openList([])
  expect(await items.at([0, 1])).toEqual([undefined, undefined])
  expect(await items.choose(0)).toBeUndefined()
  expect((await items.list()).items).toEqual([])
})
