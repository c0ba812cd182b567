/** Answers of real models, mutated, over all tasks: none may go unscored, and none may cost a host. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { call } from '../support/http.ts'
import { MUTATIONS } from './mutations.ts'

const CONCURRENCY = 4

interface RecordedAnswer {
  task: string
  config?: Record<string, unknown>
  seed: number
  index: number
  answer?: string | null
}

export interface AnswersReport {
  answers: number
  tasks: number
  unscored: string[]
  /** Timeouts of the tasks whose scorers have no bound. */
  timeouts: string[]
  workerExits: string[]
}

/**
 * sympy's simplification, which these two use, has no bound: what exceeds the deadline is unscored, honestly, and its host
 * is replaced. Everywhere else a timeout is a hole.
 */
const UNBOUNDED_TASKS = new Set(['simple_integration', 'intermediate_integration'])

/** undefined where the recorded answers are not at hand. */
export async function fuzzAnswers(
  url: string,
  key: string,
  data: string,
  only?: string[],
): Promise<AnswersReport | undefined> {
  if (!existsSync(join(data, 'recorded.jsonl.gz'))) return undefined
  // Every task has items with their right answers; most have answers of models too.
  const lines = [
    ...readRecordedAnswers(join(data, 'items.jsonl.gz')),
    ...readRecordedAnswers(join(data, 'recorded.jsonl.gz')),
  ].filter(({ answer, task }) => typeof answer === 'string' && (only === undefined || only.includes(task)))
  const report: AnswersReport = {
    answers: 0,
    tasks: new Set(lines.map(({ task }) => task)).size,
    unscored: [],
    timeouts: [],
    workerExits: [],
  }
  let lineCount = 0
  const queue = lines.values()
  const work = async () => {
    for (const line of queue) {
      await scoreMutants(url, key, line, report)
      if (++lineCount % 250 === 0) console.log(`${report.answers} answers, ${report.unscored.length} unscored`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const { text: metrics } = await call('GET', `${url}/metrics`, { key })
  const ends = metrics.split('\n').filter((line) => /^rgs_engine_worker_ends_total\{.*\} [^0]/.test(line))
  report.workerExits = report.timeouts.length > 0 ? ends.filter((line) => !line.includes('"timeout"')) : ends
  return report
}

function readRecordedAnswers(path: string): RecordedAnswer[] {
  const text = gunzipSync(readFileSync(path)).toString()
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedAnswer) // the files are described beside them
}

async function scoreMutants(url: string, key: string, line: RecordedAnswer, report: AnswersReport): Promise<void> {
  const { task, seed, index, config = {}, answer } = line
  const recipe = { task, config, seed, index }
  const mutants = Object.entries(MUTATIONS).map(([name, mutate]) => ({ name, answer: mutate(answer ?? '') }))
  const rollouts = mutants.map((mutant) => ({ recipe, answer: mutant.answer }))
  const { status, body } = await call('POST', `${url}/score`, { key, body: { rollouts } })
  report.answers += mutants.length
  mutants.forEach(({ name }, k) => {
    const verdict = body?.verdicts?.[k]
    if (verdict?.status === 'scored') return
    const what = `${task} ${seed} ${index}, ${name}: ${verdict?.code ?? `${status} ${body?.detail}`}`
    const known = UNBOUNDED_TASKS.has(task) && verdict?.code === 'scorer_timeout'
    report[known ? 'timeouts' : 'unscored'].push(what)
  })
}
