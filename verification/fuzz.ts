/**
 * Sends thousands of malformed calls and mutated answers to a server of its own, and writes a report to artifacts/fuzz.md.
 *   npm run verify -- fuzz [--calls 10000] [--seed 1] [--only http|answers] [--tasks NAME,…] [--data FOLDER of recorded.jsonl.gz]
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type AnswersReport, fuzzAnswers } from './fuzz/answers.ts'
import { fuzzHttp, type HttpReport } from './fuzz/http.ts'
import { MUTATIONS } from './fuzz/mutations.ts'
import { ARTIFACTS_DIR } from './fuzz/python-tools.ts'
import { withScriptServer } from './support/with-server.ts'

const ADMIN_KEY = 'fuzz'
const REPORT = join(ARTIFACTS_DIR, 'fuzz.md')

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    tasks: { type: 'string' },
    data: { type: 'string', default: join(import.meta.dirname, '..', '..', 'shared', 'data') },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  console.log(
    'npm run verify -- fuzz [--calls 10000] [--seed 1] [--only http|answers] [--tasks NAME,…] [--data FOLDER]',
  )
  process.exit(0)
}

const env = { API_KEYS: `admin:${ADMIN_KEY}`, LOG_LEVEL: 'warn', MODEL_HOSTS: '127.0.0.1' }
// A busy machine must not turn slow scores into timeouts: what hangs hangs for longer than this too.
const longDeadlineEnv = { ...env, SCORE_DEADLINE_MS: '20000' }
const http =
  values.only !== 'answers'
    ? await withScriptServer(
        undefined,
        (url) => fuzzHttp(url, ADMIN_KEY, Number(values.calls), Number(values.seed)),
        env,
      )
    : undefined
const answers =
  values.only !== 'http'
    ? await withScriptServer(
        undefined,
        (url) => fuzzAnswers(url, ADMIN_KEY, values.data, values.tasks?.split(',')),
        longDeadlineEnv,
      )
    : undefined
const text = [...(http ? formatHttpReport(http) : []), ...formatAnswersReport(answers)].join('\n')
console.log(text)
mkdirSync(ARTIFACTS_DIR, { recursive: true })
writeFileSync(REPORT, `# Fuzzing\n\n${text}\n`)
const failed = (http?.failures.length ?? 0) + (answers?.unscored.length ?? 0) + (answers?.workerExits.length ?? 0)
process.exit(failed > 0 ? 1 : 0)

function formatHttpReport({ calls, failures, statuses }: HttpReport): string[] {
  return [
    '## Calls',
    '',
    `${calls} calls by [schemathesis](https://pypi.org/project/schemathesis/), seed ${values.seed}.`,
    '',
    `| status | responses |\n|---|---|\n${Object.entries(statuses)
      .map(([status, times]) => `| ${status} | ${times} |`)
      .join('\n')}`,
    '',
    failures.length === 0 ? 'Failures: none.' : `Failures:\n\n${failures.map((failure) => `- ${failure}`).join('\n')}`,
    '',
  ]
}

function formatAnswersReport(report: AnswersReport | undefined): string[] {
  if (!report) return ['Mutated answers: skipped, because there are no recorded answers (--data FOLDER).']
  const { answers, tasks, unscored, timeouts, workerExits } = report
  return [
    '## Answers',
    '',
    `${answers} answers: reference answers and recorded answers of real models for ${tasks} tasks, each mutated in ${Object.keys(MUTATIONS).length} ways:`,
    `${Object.keys(MUTATIONS).join('; ')}.`,
    '',
    unscored.length === 0
      ? 'Unscored: none.'
      : `Unscored: ${unscored.length}\n\n${unscored
          .slice(0, 100)
          .map((line) => `- ${line}`)
          .join('\n')}`,
    '',
    `Over the deadline of 20 s in the two integration tasks, where sympy may simplify endlessly: ${timeouts.length === 0 ? 'none.' : ''}`,
    ...timeouts.slice(0, 100).map((line) => `- ${line}`),
    '',
    workerExits.length === 0
      ? 'Python workers that exited: none.'
      : `Python workers that exited:\n\n${workerExits.map((line) => `- \`${line}\``).join('\n')}`,
  ]
}
