/** Sends thousands of malformed calls and mutated answers to a server of its own, and writes a report to artifacts/fuzz.md. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type AnswersReport, fuzzAnswers } from './fuzz/answers.ts'
import { fuzzHttp, type HttpReport } from './fuzz/http.ts'
import { ARTIFACTS_DIR } from './fuzz/python-tools.ts'
import { withScriptServer } from './support/with-server.ts'

const ADMIN_KEY = 'fuzz'

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    tasks: { type: 'string' },
    data: { type: 'string', default: join(import.meta.dirname, '..', '..', 'shared', 'data') },
  },
})
const env = { API_KEYS: `admin:${ADMIN_KEY}`, LOG_LEVEL: 'warn', MODEL_HOSTS: '127.0.0.1' }
// A busy machine must not turn slow scores into timeouts: what hangs hangs for longer than this too.
const longDeadlineEnv = { ...env, SCORE_DEADLINE_MS: '20000' }
const [calls, seed] = [Number(values.calls), Number(values.seed)]
const sendCalls = (url: string) => fuzzHttp(url, ADMIN_KEY, calls, seed)
const sendAnswers = (url: string) => fuzzAnswers(url, ADMIN_KEY, values.data, values.tasks?.split(','))
const http = values.only === 'answers' ? undefined : await withScriptServer(undefined, sendCalls, env)
const answers = values.only === 'http' ? undefined : await withScriptServer(undefined, sendAnswers, longDeadlineEnv)
const text = ['# Fuzzing', ...(http ? formatCalls(http) : []), ...formatAnswers(answers)].join('\n\n')
console.log(text)
mkdirSync(ARTIFACTS_DIR, { recursive: true })
writeFileSync(join(ARTIFACTS_DIR, 'fuzz.md'), `${text}\n`)
const failed = (http?.failures.length ?? 0) + (answers?.unscored.length ?? 0) + (answers?.workerExits.length ?? 0)
process.exit(failed > 0 ? 1 : 0)

function formatCalls({ calls: count, failures, statuses }: HttpReport): string[] {
  return [
    `${count} calls by [schemathesis](https://pypi.org/project/schemathesis/), seed ${seed}.`,
    formatList(
      'Responses by status',
      Object.entries(statuses).map(([status, times]) => `${status}: ${times}`),
    ),
    formatList('Failures', failures),
  ]
}

function formatAnswers(report: AnswersReport | undefined): string[] {
  if (!report) return ['Mutated answers: skipped, because there are no recorded answers (--data FOLDER).']
  const { answers: count, tasks, unscored, timeouts, workerExits } = report
  return [
    `${count} answers: mutated reference answers and recorded answers of real models for ${tasks} tasks.`,
    formatList('Unscored', unscored),
    formatList('Over the deadline of 20 s in the two integration tasks, where sympy may simplify endlessly', timeouts),
    formatList('Python workers that exited', workerExits),
  ]
}

function formatList(title: string, lines: string[]): string {
  if (lines.length === 0) return `${title}: none.`
  return [`${title}: ${lines.length}`, '', ...lines.slice(0, 100).map((line) => `- ${line}`)].join('\n')
}
