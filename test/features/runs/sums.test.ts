import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { addSums, packSums, readSums, unpackSums } from '../../../src/features/runs/sums.ts'
import type { StatisticSums } from '../../../src/grading/group-statistics.ts'
import { connectForWorkers } from '../../../src/platform/redis/connect.ts'

let redis: Redis
beforeAll(() => {
  redis = connectForWorkers({ url: inject('redisUrl'), prefix: '' })
})
afterAll(() => redis.disconnect())

const NUMBERS = [0, 1, 127, 128, 65_536, 2 ** 32, 2 ** 53, 2 ** 60, 1e19, 1e100, -1, -33, -2e9, 0.5, 0.1 + 0.2, 1e-300]
const NAMES = ['groups', 'x'.repeat(31), 'x'.repeat(32), 'x'.repeat(300), 'task_scored:täsk']

it('Lua and TypeScript read each other, bit for bit', async () => {
  const sums = Object.fromEntries([
    ...NUMBERS.map((number, k) => [`n${k}`, number]),
    ...NAMES.map((name) => [name, 1 / 3]),
    ...Array.from({ length: 300 }, (_, k) => [`length_bucket:${k}`, k]),
  ]) as StatisticSums // pairs of a field and a number
  const script = `local sums = cmsgpack.unpack(ARGV[1])
    local repacked = cmsgpack.pack(sums)
    local list = {}
    for field, sum in pairs(sums) do list[#list + 1] = field .. '=' .. string.format('%.17g', sum) end
    return { repacked, table.concat(list, ' ') }`
  const [repacked, texts] = (await redis.callBuffer('EVAL', script, 0, packSums(sums))) as [Buffer, Buffer] // as it returns them
  expect(unpackSums(repacked)).toEqual(sums)
  const seen = texts
    .toString()
    .split(' ')
    .map((text) => text.split('=')) // no name has either character
  expect(Object.fromEntries(seen.map(([field, sum]) => [field, Number(sum)]))).toEqual(sums)
})

it('rows are read in their order however many there are, and one that is gone has no sums', async () => {
  const key = `t${randomUUID()}`
  const rows = Array.from({ length: 300 }, (_, k) => String(299 - k))
  for (const row of rows) if (row !== '7') await redis.hset(key, row, packSums({ groups: Number(row) }))
  const read: StatisticSums[] = []
  for await (const sums of readSums(redis, key, rows)) read.push(sums)
  expect(read).toEqual(rows.map((row) => (row === '7' ? {} : { groups: Number(row) })))
  await redis.del(key)
})

it('of several rows, amounts are added up, and the latest time is kept', () => {
  const total: StatisticSums = {}
  addSums(total, { groups: 2, last_completed_at: 9 })
  addSums(total, { groups: 1, reward: 0.5, last_completed_at: 4 })
  expect(total).toEqual({ groups: 3, reward: 0.5, last_completed_at: 9 })
})
