/**
 * W13: training steps that score all their groups and wait for the slowest, some with a hostile answer, beside the library in a
 * pool of worker processes inside the trainer. Both use all cores and get the same answers.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { assertNoErrors, type Bench, type Benchmark, type BenchRow, median } from '../bench-row.ts'
import { type ItemCompletions, makeCompletions, writeOurRequests } from '../completions.ts'
import { BASELINES_DIR, PYTHON_ENV, prepareBaselinePython } from '../environment.ts'
import { HARMLESS_COMPLETIONS, makeAnswerForSympy, makeHostileCompletion } from '../hostile.ts'
import { runLoad, writeLines } from '../load/run.ts'
import { BENCH_ARTIFACTS_DIR } from '../machine.ts'
import { startOurServer } from '../servers.ts'

/** One step in three has a hostile answer. */
const HOSTILE_STEP_EVERY = 3
/** They make the items, and V8 compiles what they need. */
const WARMUP_STEPS = 3
const MOST_TIMES_MEDIAN = 3

export function measureSteps(groups: number, stepCount: number): Benchmark {
  return async (bench) => {
    const python = await prepareBaselinePython()
    const { all } = await makeCompletions(python, 'mix', groups * (WARMUP_STEPS + stepCount + 1))
    const steps = Array.from({ length: WARMUP_STEPS + stepCount + 1 }, (_, k) =>
      all.slice(k * groups, (k + 1) * groups),
    )
    for (const step of steps.slice(0, WARMUP_STEPS)) step.push(...HARMLESS_COMPLETIONS) // by chance to each API process
    for (let k = 0; k * HOSTILE_STEP_EVERY < stepCount; k++)
      steps[WARMUP_STEPS + k * HOSTILE_STEP_EVERY]?.push(makeHostileCompletion(k))
    steps.at(-1)?.push(makeAnswerForSympy())
    const ours = await measureOurSteps(bench, steps)
    const pool = measurePool(python, steps)
    bench.record(`W13 steps of ${groups} groups`, { ours, pool })
    return buildRows(groups, ours, pool)
  }
}

/** Seconds of each step that counts. */
async function measureOurSteps(bench: Bench, steps: ItemCompletions[][]): Promise<number[]> {
  const server = await startOurServer()
  try {
    const seconds: number[] = []
    for (const step of steps) {
      const asks = writeOurRequests('steps', step)
      const at = { port: server.port, server: server.pid, asks, anywhere: true }
      const found = await runLoad({ ...at, count: step.length, warmupS: 0, timeoutS: 120 })
      assertNoErrors('W13', found)
      bench.record('W13 our step', found)
      seconds.push(found.seconds)
    }
    return seconds.slice(WARMUP_STEPS)
  } finally {
    await server.stop()
  }
}

function measurePool(python: string, steps: ItemCompletions[][]): number[] {
  const path = join(BENCH_ARTIFACTS_DIR, 'steps.jsonl')
  writeLines(path, steps)
  const script = join(BASELINES_DIR, 'pool.py')
  const { stdout, stderr, status } = spawnSync(python, [script, path], { env: PYTHON_ENV, encoding: 'utf8' })
  if (status !== 0) throw new Error(`pool.py: ${stderr}`)
  return (JSON.parse(stdout) as number[]).slice(WARMUP_STEPS) // as pool.py prints them
}

/** The last step of each has an answer that only sympy can decide, and does not. */
function buildRows(groups: number, ourSteps: number[], poolSteps: number[]): BenchRow[] {
  const [ours, pool] = [ourSteps.slice(0, -1), poolSteps.slice(0, -1)]
  const describe = (steps: number[]) =>
    `slowest ${formatSeconds(Math.max(...steps))}, median ${formatSeconds(median(steps))}`
  const stall = (steps: number[]) => Math.max(...steps) / median(steps)
  const row = (what: string, value: number, unit: string): BenchRow => ({
    work: 'W13',
    what: `steps of ${groups} groups, hostile answers in one of ${HOSTILE_STEP_EVERY}: ${what}`,
    value,
    unit,
  })
  return [
    {
      ...row('slowest vs. median', stall(ours), '×'),
      most: MOST_TIMES_MEDIAN,
      beside: `${ours.length} steps, ${describe(ours)}`,
    },
    { ...row('slowest vs. median of the library in a pool', stall(pool), '×'), beside: describe(pool) },
    { ...row("the pool's slowest vs. ours", Math.max(...pool) / Math.max(...ours), '×') },
    {
      work: 'W13',
      what: `a step of ${groups} groups with an answer that only sympy can decide`,
      value: ourSteps.at(-1) ?? Number.NaN,
      unit: 's',
      beside: `the pool: ${formatSeconds(poolSteps.at(-1) ?? Number.NaN)}`,
    },
  ]
}

function formatSeconds(seconds: number): string {
  return `${seconds.toPrecision(3)} s`
}
