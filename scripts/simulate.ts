/**
 * npm run simulate -- [--tasks a,b,c | all] [--steps 60] [--url http://…]: a learner without a model trains on runs of a
 * real server, one by the original's rule and one at the frontier, and their curricula are shown. `--svg FILE` draws them;
 * `--check` fails unless every task settles where the learner's accuracy is at the target. `--compare` and `--sampling` need no
 * server: they compare rules for a curriculum, failing unless the frontier keeps its limits, and rules for which task comes next.
 */
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { CurriculumPoint } from '@reasoning-gym-server/contract/run'
import { Presets, SingleBar } from 'cli-progress'
import { withScriptServer } from '../verification/support/with-server.ts'
import { printComparison } from './simulate/compare/report.ts'
import { type CurriculumPanel, renderCurriculumSvg } from './simulate/curriculum-svg.ts'
import { getDifficultyFor, getSkill, runLearnerStep, type ServerCall } from './simulate/learner.ts'
import { SAMPLING_SIZE } from './simulate/sampling/compare.ts'
import { printSamplingComparison } from './simulate/sampling/report.ts'

/** Their answers cannot be guessed: the learner does not guess, and the frontier aims above the guess floor. */
const DEFAULT_TASKS = 'chain_sum,spell_backward,leg_counting,word_sorting,number_sorting,caesar_cipher'
const MODES = ['curriculum', 'frontier'] as const
type Mode = (typeof MODES)[number]
const MODE_TITLES: Record<Mode, string> = { curriculum: 'curriculum: the original’s rule', frontier: 'frontier' }
const ITEMS_PER_STEP = 8
/** How far from its place a settled task may be on average: the rule goes up and down around it. */
const DIFFICULTY_TOLERANCE = 0.1
const AVERAGED_POINTS = 20
const COMPARED_TASKS = 24
const COMPARED_GROUPS = 150

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: DEFAULT_TASKS },
    steps: { type: 'string', default: '60' },
    size: { type: 'string', default: '16' },
    target: { type: 'string', default: '0.7' },
    run: { type: 'string', default: 'simulation' },
    url: { type: 'string' },
    svg: { type: 'string' },
    check: { type: 'boolean', default: false },
    compare: { type: 'boolean', default: false },
    sampling: { type: 'boolean', default: false },
    seeds: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(`npm run simulate -- [options]

  --tasks a,b,c    tasks, or all that can be made harder (default ${DEFAULT_TASKS})
  --steps N        steps of ${ITEMS_PER_STEP} groups (default 60)
  --size N         rollouts a group (default 16)
  --target X       accuracy that the curriculum aims at (default 0.7)
  --run NAME       start of the names of the runs, which are begun anew (default simulation)
  --url URL        a running server; none: one of its own
  --svg FILE       draws the curricula
  --check          fails unless every task settles within ${DIFFICULTY_TOLERANCE} of its place
  --compare        compares rules for a curriculum on simulated learners, without a server: the original's, AdaRFT,
                   an average on the logit, and the frontier; fails unless the frontier keeps its limits
  --sampling       compares rules for which task comes next, on ${SAMPLING_SIZE.tasks} simulated tasks without a server
  --seeds N        repetitions of --compare (default 8, a minute or two) or of --sampling (default 2, as long)`)
} else if (values.compare) {
  const size = { tasks: COMPARED_TASKS, seeds: Number(values.seeds ?? 8), groups: COMPARED_GROUPS, rollouts: 16 }
  if (!printComparison(size)) process.exitCode = 1
} else if (values.sampling) {
  printSamplingComparison({ ...SAMPLING_SIZE, seeds: Number(values.seeds ?? SAMPLING_SIZE.seeds) })
} else {
  await withScriptServer(values.url, simulate)
}

async function simulate(url: string): Promise<void> {
  const target = Number(values.target)
  const { tasks: all } = (await createClient(url)('GET', '/tasks')) as {
    tasks: { name: string; adjustable: boolean }[]
  } // as /tasks answers
  const adjustable = all.filter((task) => task.adjustable).map(({ name }) => name)
  const tasks = values.tasks === 'all' ? adjustable : values.tasks.split(',')
  const aims = Object.fromEntries(tasks.map((task) => [task, getDifficultyFor(getSkill(task), target)]))
  const panels: CurriculumPanel[] = []
  for (const mode of MODES) {
    const points = await train(url, mode, tasks, target)
    console.log(`\n${mode}`)
    printReport(points, aims, target)
    panels.push({ title: MODE_TITLES[mode], points })
  }
  if (!values.svg) return
  const title = `Two curricula of ${tasks.length} tasks, target accuracy ${target * 100} % (dotted: difficulty at which the learner reaches it)`
  writeFileSync(values.svg, renderCurriculumSvg(panels, aims, title))
  console.log(`drawn: ${values.svg}`)
}

/** What moved the curriculum of a run that a learner trained on. */
async function train(url: string, mode: Mode, tasks: string[], target: number): Promise<CurriculumPoint[]> {
  const run = `${values.run}-${mode}`
  await fetch(`${url}/runs/${run}`, { method: 'DELETE' })
  await configureRun(url, run, { tasks, complexity_mode: mode, curriculum_target_accuracy: target })
  const steps = Number(values.steps)
  const bar = new SingleBar(
    {
      format: '{bar} {percentage} % | step {value}/{total} | {eta_formatted} left | {task} {difficulty}',
      clearOnComplete: true,
    },
    Presets.shades_classic,
  )
  bar.start(steps, 0, { task: '', difficulty: '' })
  for (let step = 1; step <= steps; step++) {
    const groups = await runLearnerStep(createClient(url), run, { count: ITEMS_PER_STEP, size: Number(values.size) })
    const last = groups.at(-1)
    bar.update(step, { task: last?.task ?? '', difficulty: last?.difficulty?.toFixed(2) ?? '' })
  }
  bar.stop()
  const { points } = (await createClient(url)('GET', `/runs/${run}/history`)) as { points: CurriculumPoint[] } // as declared
  return points
}

function printReport(points: CurriculumPoint[], aims: Record<string, number>, target: number): void {
  const rows = Object.entries(aims).map(([task, aim]) => {
    const own = points.filter((point) => point.task === task)
    const last = own.slice(-AVERAGED_POINTS)
    const at = last.length > 0 ? last.reduce((sum, { difficulty }) => sum + difficulty, 0) / last.length : undefined
    return {
      task,
      groups: own.length,
      difficulty: at,
      place: aim,
      settled: at !== undefined && Math.abs(at - aim) <= DIFFICULTY_TOLERANCE,
    }
  })
  const round = (value: number | undefined) => (value === undefined ? '' : value.toFixed(3))
  console.table(rows.map((row) => ({ ...row, difficulty: round(row.difficulty), place: round(row.place) })))
  const settled = rows.filter((row) => row.settled).length
  console.log(
    `${settled} of ${rows.length} tasks are within ${DIFFICULTY_TOLERANCE} of where this learner is right ${target * 100} % of the time`,
  )
  if (values.check && settled < rows.length) process.exitCode = 1
}

function createClient(url: string): ServerCall {
  return async (method, path, body) => {
    for (;;) {
      const response = await fetch(url + path, {
        method,
        headers: { 'content-type': 'application/json', prefer: 'wait=60' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const retryAfter = response.headers.get('retry-after') // on 429, 503, and conflicts that pass
      if (retryAfter !== null) {
        await sleep(1000 * Number(retryAfter))
        continue
      }
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
      return response.json()
    }
  }
}

async function configureRun(url: string, run: string, settings: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/runs/${run}`, { method: 'PUT', headers, body: JSON.stringify(settings) })
  if (!response.ok) throw new Error(`PUT /runs/${run}: ${response.status} ${await response.text()}`)
}
