/** The model's results as Markdown. */
import { type Capacity, computeCapacity, MACHINES } from './model.ts'

const SIZES = [1, 8, 64, 512]
const [START, END] = ['<!-- table: npm run docs:capacity -->', '<!-- end of table -->']

const ROWS: [name: string, format: (capacity: Capacity) => string][] = [
  ['groups per second', ({ groupsPerSecond }) => formatNumber(groupsPerSecond)],
  ['network of the API, in and out together', ({ gbitPerSecond }) => `${formatNumber(gbitPerSecond)} Gbit/s`],
  ['API processes', ({ apiProcesses }) => String(apiProcesses)],
  ['workers', ({ workerProcesses }) => String(workerProcesses)],
  [`machines for both (${MACHINES.node.name})`, ({ nodeMachines }) => String(nodeMachines)],
  [
    `Redis masters, each with a replica (${MACHINES.redis.name})`,
    ({ masters, mastersFor }) => (masters === 1 ? '1' : `${masters}, for their ${mastersFor}`),
  ],
  ['memory of all masters', ({ memoryGb }) => `${formatNumber(memoryGb)} GB`],
  ['append-only files of all masters', ({ appendOnlyMbPerSecond }) => `${formatNumber(appendOnlyMbPerSecond)} MB/s`],
  ['use of the core that serves the run', ({ runMasterUse }) => formatPercent(runMasterUse)],
  ['use of the core that serves the queue', ({ queueMasterUse }) => formatPercent(queueMasterUse)],
  ['list price', ({ dollarsPerHour }) => `$${dollarsPerHour.toFixed(2)} per hour`],
  ['… compared with the GPUs', ({ priceShare }) => formatPercent(priceShare)],
  ['first bottleneck', ({ bottleneck }) => bottleneck],
]

export function formatCapacityTable(): string {
  const capacities = SIZES.map((nodes) => computeCapacity(nodes))
  const head = ['', ...capacities.map(({ nodes }) => `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`)]
  const rows = ROWS.map(([name, format]) => [name, ...capacities.map(format)])
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The page with the current table. */
export function replaceCapacityTable(page: string): string {
  const [from, to] = [page.indexOf(START), page.indexOf(END)]
  if (from < 0 || to < from) throw new Error('docs/design/capacity.md has no place for the table')
  return `${page.slice(0, from + START.length)}\n\n${formatCapacityTable()}\n\n${page.slice(to)}`
}

const formatNumber = (value: number) => (value >= 10 ? Math.round(value).toLocaleString('en') : value.toPrecision(2))
const formatPercent = (share: number) =>
  share >= 0.1 ? `${Math.round(100 * share)}%` : `${Number((100 * share).toPrecision(2))}%`
