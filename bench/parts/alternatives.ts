/**
 * W13: a training step of 64 groups of 16 new completions, as this server, the library in the trainer, and NeMo Gym's server of
 * the library score it: without hostile answers, and with one in 500. All of them use all cores and get the same completions, for
 * items made before.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Bench, type BenchRow, median } from '../bench-row.ts'
import {
  buildScoreRequest,
  type ItemCompletions,
  makeCompletions,
  omitUncompared,
  writeItemRequests,
} from '../completions.ts'
import { BASELINES_DIR, PYTHON_ENV, prepareBaselinePython } from '../environment.ts'
import { addHostileAnswers } from '../hostile.ts'
import type { LoadRequest } from '../load/requests.ts'
import { runLoad, writeLines, writeLoadRequests } from '../load/run.ts'
import { BENCH_ARTIFACTS_DIR } from '../machine.ts'
import { type RunningProcess, startNemoGymServer, startOurServer } from '../servers.ts'

const GROUPS = 64
const GROUP_SIZE = 16
const STEPS = 12
/** Compilers compile what is busy. */
const WARMUP_STEPS = 3
/** Of a step with hostile answers: one in about 500. */
const HOSTILE_ANSWERS = 2
/** What takes longer is over for the training, too. */
const STEP_LIMIT_S = 60
/** Of the library's imports and a first step. */
const START_LIMIT_S = 120

interface Step {
  seconds: number
  /** Completions without the score that they should have: training took them for 0, or not at all. */
  lost: number
}

interface Contender {
  name: string
  /** The steps that ended within the limit, up to the first one that did not. */
  measure(steps: ItemCompletions[][]): Promise<Step[]>
}

export async function benchmarkAlternatives({ record }: Bench): Promise<BenchRow[]> {
  const python = await prepareBaselinePython()
  const count = 2 * (WARMUP_STEPS + STEPS) * (GROUPS + 1)
  const all = omitUncompared(await makeCompletions(python, 'mix', count, GROUP_SIZE, { withEntries: true }))
  const steps = Array.from({ length: 2 * (WARMUP_STEPS + STEPS) }, (_, k) => all.slice(k * GROUPS, (k + 1) * GROUPS))
  const plain = steps.slice(0, WARMUP_STEPS + STEPS)
  const hostile = steps.slice(WARMUP_STEPS + STEPS).map((step, k) => {
    return k < WARMUP_STEPS ? step : addHostileAnswers(step, HOSTILE_ANSWERS, k)
  })
  const rows: BenchRow[] = []
  for (const contender of listContenders(python))
    for (const [what, some] of Object.entries({ 'no hostile answers': plain, 'one hostile answer in 500': hostile })) {
      const measured = await contender.measure(some).catch((error: unknown) => {
        console.error(`bench: W13 leaves out ${contender.name}:`, error)
      })
      if (!measured) continue
      record(`W13 ${contender.name}, ${what}`, measured)
      rows.push(buildRow(`${contender.name}, ${what}`, measured.slice(WARMUP_STEPS)))
    }
  return rows
}

function buildRow(what: string, steps: Step[]): BenchRow {
  const seconds = steps.map((step) => step.seconds).toSorted((a, b) => a - b)
  const lost = steps.reduce((sum, step) => sum + step.lost, 0)
  const describe = (value: number | undefined) => `${value?.toPrecision(3) ?? '–'} s`
  const details = [
    `90% within ${describe(seconds[Math.ceil(0.9 * seconds.length) - 1])}`,
    `slowest ${describe(seconds.at(-1))}`,
    `${lost} of ${steps.length * GROUPS * GROUP_SIZE} completions without their score`,
    ...(steps.length < STEPS ? [`step ${steps.length + 1} did not end within ${STEP_LIMIT_S} s`] : []),
  ]
  const value = median(seconds)
  return {
    work: 'W13',
    what: `a step of ${GROUPS} groups of ${GROUP_SIZE}: ${what}`,
    value,
    unit: 's',
    beside: details.join('; '),
  }
}

function listContenders(python: string): Contender[] {
  return [
    {
      name: 'this server',
      measure: (steps) =>
        measureServer(startOurServer(), steps, (step) => step.map((one) => buildScoreRequest(one)), true),
    },
    { name: "the library in the trainer's process", measure: (steps) => measureTrainer(python, 'process', steps) },
    { name: 'the library in a pool of processes', measure: (steps) => measureTrainer(python, 'pool', steps) },
    {
      name: "NeMo Gym's reasoning-gym server",
      measure: (steps) => measureServer(startNemoGymServer(), steps, (step) => step.flatMap(buildNemoGymRequests)),
    },
  ]
}

async function measureServer(
  starting: Promise<RunningProcess>,
  steps: ItemCompletions[][],
  buildRequests: (step: ItemCompletions[]) => LoadRequest[],
  givesItems = false,
): Promise<Step[]> {
  const server = await starting
  const at = { port: server.port, server: server.pid, anywhere: true, warmupS: 0 }
  try {
    const measured: Step[] = []
    for (const step of steps) {
      const limits = { timeoutS: STEP_LIMIT_S, limitS: STEP_LIMIT_S }
      // prompts come before completions
      if (givesItems)
        await runLoad({ ...at, ...limits, asks: writeItemRequests('alternatives', step), count: step.length })
      const requests = buildRequests(step)
      const asks = writeLoadRequests('alternatives', requests)
      const { seconds, rightUnits } = await runLoad({ ...at, ...limits, asks, count: requests.length })
      if (seconds >= STEP_LIMIT_S) break
      measured.push({ seconds, lost: step.flatMap(listExpectedScores).length - rightUnits })
    }
    return measured
  } finally {
    await server.stop()
  }
}

function listExpectedScores({ scores }: ItemCompletions): number[] {
  return scores.filter((score) => score !== null)
}

/** A request for each completion, with the library's entry of the item, as NeMo Gym's rows have it. */
function buildNemoGymRequests({ completions, scores, entry }: ItemCompletions): LoadRequest[] {
  return completions.map((text, k) => {
    const content = [{ type: 'output_text', text, annotations: [] }]
    const output = [{ id: 'm', type: 'message', role: 'assistant', status: 'completed', content }]
    const response = { id: 'r', created_at: 0, model: 'm', object: 'response', output, ...RESPONSE_REST }
    const prompt = { input: [{ role: 'user', content: entry?.question }] }
    const body = JSON.stringify({ ...entry, responses_create_params: prompt, response })
    return { path: '/verify', body, expect: [scores[k] ?? null], field: 'reward' }
  })
}

const RESPONSE_REST = { parallel_tool_calls: false, tool_choice: 'auto', tools: [] }

async function measureTrainer(python: string, mode: 'process' | 'pool', steps: ItemCompletions[][]): Promise<Step[]> {
  const path = join(BENCH_ARTIFACTS_DIR, 'steps.jsonl')
  writeLines(path, steps)
  const script = join(BASELINES_DIR, 'trainer.py')
  const child = spawn(python, [script, path, mode], {
    env: PYTHON_ENV,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const measured: Step[] = []
  const kill = () => process.kill(-(child.pid ?? 0), 'SIGKILL') // a pool has children
  let timer = setTimeout(kill, START_LIMIT_S * 1000)
  for await (const line of createInterface(child.stdout)) {
    measured.push(JSON.parse(line) as Step) // as trainer.py prints it
    clearTimeout(timer)
    if (measured.length < steps.length) timer = setTimeout(kill, STEP_LIMIT_S * 1000)
  }
  clearTimeout(timer)
  return measured
}
