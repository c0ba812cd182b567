/** What a deployment needs, from measured costs per group. docs/design/capacity.md explains the terms. */

/** CPU time in ms and sizes in MB, per group of 16 completions of 16,384 tokens with masks and log-probabilities (W11). */
const MEASURED = {
  typedMb: 5.3,
  redisMb: 2.41,
  apiMs: 47.2 + 41.6,
  workerMs: 15,
  /** The run's records and counters, on the master of the run. */
  recordMs: 1.6 + 0.4,
  /** The job of the group, on the master of the queue. */
  queueMs: 1.2,
  /** Texts and arrays, on the master of the run. */
  payloadMs: 3.8 + 0.5,
}

/** What a training job asks for: 50,000 completions of 16k tokens a minute from 64 nodes with 8 GPUs. */
const LOAD = {
  groupsPerSecondPerNode: 50_000 / 60 / 16 / 64,
  /** For how long a group waits in the buffer. */
  bufferedSeconds: 80,
}

/** Share of a resource that may be in use, so that a part can fail and peaks fit. */
const MAX_UTILIZATION = 0.6
/** The append-only file is rewritten now and then: everything is written, and may be in memory, a second time. */
const REWRITE_FACTOR = 2

/** On-demand list prices of AWS in us-east-1 in US dollars, as known on 2026-11-24. */
const MACHINES = {
  node: { name: 'c7i.4xlarge', cores: 16, gbitPerSecond: 6.25, perHour: 0.714 },
  redis: { name: 'r7i.2xlarge', memoryGb: 64, gbitPerSecond: 3.125, perHour: 0.5292 },
  disk: { name: 'gp3', mbPerSecond: 500, perGbMonth: 0.08, perMbPerSecondMonth: 0.04, freeMbPerSecond: 125 },
  /** For comparison: 8 H100 GPUs. */
  gpuNode: { name: 'p5.48xlarge', perHour: 55.04 },
}
const HOURS_PER_MONTH = 730
/** Fewer cannot agree on a failover. */
const MIN_CLUSTER_MASTERS = 3

interface Capacity {
  nodes: number
  groupsPerSecond: number
  /** Typed arrays, in and out together. */
  gbitPerSecond: number
  apiProcesses: number
  workerProcesses: number
  nodeMachines: number
  /** Into how many runs the job has to be split. */
  runs: number
  masters: number
  /** What decides their number. */
  mastersFor: string
  memoryGb: number
  appendOnlyMbPerSecond: number
  /** Of the one core that serves a run. */
  runMasterUse: number
  queueMasterUse: number
  dollarsPerHour: number
  /** Of the price of the GPUs. */
  priceShare: number
  bottleneck: string
}

export function computeCapacity(nodes: number, replicas = 1): Capacity {
  const groupsPerSecond = nodes * LOAD.groupsPerSecondPerNode
  const { apiMs, workerMs, recordMs, queueMs, payloadMs, redisMb, typedMb } = MEASURED
  const cores = (ms: number) => (groupsPerSecond * ms) / 1000
  const countNeeded = (need: number, each: number) => Math.ceil(need / (each * MAX_UTILIZATION))
  const apiProcesses = Math.max(2, countNeeded(cores(apiMs), 1))
  const workerProcesses = Math.max(2, countNeeded(cores(workerMs), 1))
  const gbitPerSecond = (groupsPerSecond * 2 * typedMb * 8) / 1000
  const nodeMachines = Math.max(
    2,
    Math.ceil((apiProcesses + workerProcesses) / MACHINES.node.cores),
    countNeeded(gbitPerSecond, MACHINES.node.gbitPerSecond),
  )
  const memoryGb = (groupsPerSecond * LOAD.bufferedSeconds * redisMb * REWRITE_FACTOR) / 1000
  const appendOnlyMbPerSecond = groupsPerSecond * redisMb * REWRITE_FACTOR
  const needs = {
    CPU: countNeeded(cores(recordMs + payloadMs), 1),
    memory: countNeeded(memoryGb, MACHINES.redis.memoryGb),
    disk: countNeeded(appendOnlyMbPerSecond, MACHINES.disk.mbPerSecond),
    // in, out, and once more to each replica
    network: countNeeded((groupsPerSecond * redisMb * (2 + replicas) * 8) / 1000, MACHINES.redis.gbitPerSecond),
  }
  // One master serves all of a run, so what takes several masters takes as many runs. Another one serves the queue.
  const [mastersFor, runs] = Object.entries(needs).reduce((most, one) => (one[1] > most[1] ? one : most))
  const masters = runs === 1 ? 1 : Math.max(MIN_CLUSTER_MASTERS, runs + 1)
  const runMasterUse = cores(recordMs + payloadMs) / runs
  const queueMasterUse = cores(queueMs) + (masters === 1 ? runMasterUse : 0)
  const { perGbMonth, perMbPerSecondMonth, freeMbPerSecond } = MACHINES.disk
  const diskPerMonth =
    Math.max(100, (3 * memoryGb) / masters) * perGbMonth +
    Math.max(0, MACHINES.disk.mbPerSecond - freeMbPerSecond) * perMbPerSecondMonth
  const redisPerHour = masters * (1 + replicas) * (MACHINES.redis.perHour + diskPerMonth / HOURS_PER_MONTH)
  const dollarsPerHour = nodeMachines * MACHINES.node.perHour + redisPerHour
  return {
    nodes,
    groupsPerSecond,
    gbitPerSecond,
    apiProcesses,
    workerProcesses,
    nodeMachines,
    runs,
    masters,
    mastersFor,
    memoryGb,
    appendOnlyMbPerSecond,
    runMasterUse,
    queueMasterUse,
    dollarsPerHour,
    priceShare: dollarsPerHour / (nodes * MACHINES.gpuNode.perHour),
    bottleneck: findBottleneck(),
  }

  function findBottleneck(): string {
    if (runs > 1) return `the ${mastersFor} of one master: split the job into ${runs} runs`
    if (apiProcesses > 2) return 'CPU of the API: add processes'
    return 'none: two machines for safety'
  }
}

const SIZES = [1, 8, 64, 512]
const [START, END] = ['<!-- table: written from scripts/capacity.ts -->', '<!-- end of table -->']

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
  ['use of the core that serves a run', ({ runMasterUse }) => formatPercent(runMasterUse)],
  ['use of the core that serves the queue', ({ queueMasterUse }) => formatPercent(queueMasterUse)],
  ['list price', ({ dollarsPerHour }) => `$${dollarsPerHour.toFixed(2)} per hour`],
  ['… compared with the GPUs', ({ priceShare }) => formatPercent(priceShare)],
  ['first bottleneck', ({ bottleneck }) => bottleneck],
]

function formatCapacityTable(): string {
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
