/** The order in which CPython 3.11 lists a set of small integers: that of its hash table. */

const LINEAR_PROBES = 9
const MAX_ITEMS = 50_000
/** An integer's hash is its remainder by this. */
const HASH_MODULUS = 2n ** 61n - 1n

/** A set's items, given in order of insertion; undefined for any but integers below 2^61 - 1: texts hash by a seed. */
export function getSetOrder<Item>(items: Item[]): (Item | bigint | boolean)[] | undefined {
  const integers = items.filter((item) => isSmallInteger(item))
  if (items.length > MAX_ITEMS || integers.length < items.length) return items.length < 2 ? items : undefined
  let table: (bigint | boolean | undefined)[] = Array(8).fill(undefined)
  let used = 0
  for (const item of integers) {
    insertItem(table, item)
    used++
    if (used * 5 >= (table.length - 1) * 3) table = growTable(table, used * 4)
  }
  return table.filter((item) => item !== undefined)
}

function growTable(table: readonly (bigint | boolean | undefined)[], least: number): (bigint | boolean | undefined)[] {
  let size = 8
  while (size <= least) size *= 2
  const larger: (bigint | boolean | undefined)[] = Array(size).fill(undefined)
  for (const item of table) if (item !== undefined) insertItem(larger, item)
  return larger
}

/** A run of ten slots, then a jump by more of the hash's bits: `set_add_entry` of Objects/setobject.c. */
function insertItem(table: (bigint | boolean | undefined)[], item: bigint | boolean): void {
  const mask = table.length - 1
  let perturb = BigInt.asUintN(64, hashInteger(item))
  let start = Number(perturb & BigInt(mask))
  for (;;) {
    const last = start + LINEAR_PROBES <= mask ? start + LINEAR_PROBES : start
    for (let i = start; i <= last; i++) {
      if (table[i] === undefined) {
        table[i] = item
        return
      }
    }
    perturb >>= 5n
    start = Number((BigInt(start) * 5n + 1n + perturb) & BigInt(mask))
  }
}

function hashInteger(item: bigint | boolean): bigint {
  const value = BigInt(item)
  return value === -1n ? -2n : value
}

function isSmallInteger(item: unknown): item is bigint | boolean {
  return typeof item === 'boolean' || (typeof item === 'bigint' && item < HASH_MODULUS && item > -HASH_MODULUS)
}
