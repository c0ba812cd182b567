import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { MetricsRecorder } from '../../../src/platform/metrics/metrics-recorder.ts'
import {
  joinProcessGroup,
  ProcessGroupMetrics,
  scrapeProcessGroup,
} from '../../../src/platform/metrics/process-group.ts'
import { type Reading, readMetrics } from '../../features/operations/reading.ts'

/** A channel as between a parent and its child; each end is what the other talks to. */
function openChannel() {
  const parentEnd = new EventEmitter()
  const childEnd = new EventEmitter()
  const connect = (from: EventEmitter, to: EventEmitter) =>
    Object.assign(from, {
      connected: true,
      send: (message: unknown) => setImmediate(() => to.emit('message', structuredClone(message))),
    })
  const close = () => {
    for (const end of [parentEnd, childEnd]) Object.assign(end, { connected: false })
    parentEnd.emit('disconnect')
  }
  const child = connect(parentEnd, childEnd) as unknown as ChildProcess // what the group uses of one
  return { child, parent: connect(childEnd, parentEnd) as unknown as NodeJS.Process, close }
}

let processCount = 0
function addProcess(group: ProcessGroupMetrics) {
  const recorder = new MetricsRecorder({ process: `process-${++processCount}`, role: 'api' })
  const channel = openChannel()
  group.add(channel.child)
  joinProcessGroup(recorder.registry, channel.parent)
  return { recorder, ...channel }
}

const scrape = async (group: ProcessGroupMetrics) => readMetrics(await group.scrape())
const read = ({ samples }: Reading, name: string) => samples.filter((sample) => sample.name === name)
const valuesOf = (reading: Reading, name: string) => read(reading, name).map(({ value }) => value)

it('sums counters and histograms over processes, and keeps the default metrics of each apart', async () => {
  const group = new ProcessGroupMetrics()
  const one = addProcess(group)
  const two = addProcess(group)
  one.recorder.recordMadeItems('chain_sum', 2, 10)
  two.recorder.recordMadeItems('chain_sum', 3, 10)
  const reading = await scrape(group)
  expect(valuesOf(reading, 'rgs_items_made_total')).toEqual([5])
  expect(valuesOf(reading, 'rgs_item_make_seconds_count')).toEqual([5])
  expect(read(reading, 'process_resident_memory_bytes')).toHaveLength(2)
})

it('any process answers for the group', async () => {
  const group = new ProcessGroupMetrics()
  const one = addProcess(group)
  const two = addProcess(group)
  one.recorder.recordMadeItems('chain_sum', 2, 10)
  const texts = await Promise.all([scrapeProcessGroup(one.parent), scrapeProcessGroup(two.parent)])
  for (const text of texts) expect(valuesOf(readMetrics(text), 'rgs_items_made_total')).toEqual([2])
})

it('no counter falls when a process ends, and what its successor counts is added', async () => {
  const group = new ProcessGroupMetrics()
  const one = addProcess(group)
  const two = addProcess(group)
  one.recorder.recordMadeItems('chain_sum', 2, 10)
  two.recorder.recordMadeItems('chain_sum', 3, 10)
  await scrape(group)
  for (const { close } of [one, two]) close()
  const after = await scrape(group)
  expect(valuesOf(after, 'rgs_items_made_total')).toEqual([5])
  expect(valuesOf(after, 'rgs_item_make_seconds_count')).toEqual([5])
  expect(read(after, 'process_resident_memory_bytes')).toEqual([])
  addProcess(group).recorder.recordMadeItems('chain_sum', 1, 10)
  expect(valuesOf(await scrape(group), 'rgs_items_made_total')).toEqual([6])
})

it('a process that ends during a scrape counts with its previous values', async () => {
  const group = new ProcessGroupMetrics()
  const one = addProcess(group)
  const two = addProcess(group)
  one.recorder.recordMadeItems('chain_sum', 2, 10)
  two.recorder.recordMadeItems('chain_sum', 3, 10)
  await scrape(group)
  const scraped = scrape(group)
  two.close()
  expect(valuesOf(await scraped, 'rgs_items_made_total')).toEqual([5])
  expect(valuesOf(await scrape(group), 'rgs_items_made_total')).toEqual([5])
})

it('a process that does not answer in time counts with its previous values', async () => {
  const group = new ProcessGroupMetrics()
  const one = addProcess(group)
  one.recorder.recordMadeItems('chain_sum', 2, 10)
  await scrape(group)
  one.parent.removeAllListeners('message')
  expect(valuesOf(await scrape(group), 'rgs_items_made_total')).toEqual([2])
})

it('a process whose parent is busy for too long says so, and gives no counters that fall', async () => {
  const { child, parent } = addProcess(new ProcessGroupMetrics())
  child.removeAllListeners('message')
  await expect(scrapeProcessGroup(parent)).rejects.toMatchObject({ code: 'server_busy' })
})
