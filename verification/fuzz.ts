/**
 * Hostile input by the thousand against a server of its own, and what came of it into docs/design/fuzz.md.
 *   npm run verify -- fuzz [--calls 10000] [--seed 1] [--only http|answers] [--tasks NAME,…] [--data FOLDER of recorded.jsonl.gz]
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type AnswersReport, fuzzAnswers } from './fuzz/answers.ts'
import { fuzzHttp, type HttpReport } from './fuzz/http.ts'
import { MUTATIONS } from './fuzz/mutations.ts'
import { withScriptServer } from './support/with-server.ts'

const ADMIN_KEY = 'fuzz'
const DOCUMENT = join(import.meta.dirname, '..', 'docs', 'design', 'fuzz.md')

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
if (values.only === undefined && values.tasks === undefined && answers)
  writeFileSync(DOCUMENT, `${formatHead()}\n${text}\n`)
const failed = (http?.failures.length ?? 0) + (answers?.unscored.length ?? 0) + (answers?.workerExits.length ?? 0)
process.exit(failed > 0 ? 1 : 0)

function formatHead(): string {
  return `# Fuzzing

\`npm run verify -- fuzz\` starts a server as a user would and writes this page. What it uses is installed under \`artifacts/\` from
requirements-tools.txt. \`npm test\` has samples: bodies, completions, ids, verdicts and groups by property
(fast-check), mutated answers over all tasks, and every route × role.
`
}

function formatHttpReport({ calls, failures, statuses }: HttpReport): string[] {
  return [
    '## Calls',
    '',
    `${calls} calls by [schemathesis](https://pypi.org/project/schemathesis/) against the server's own OpenAPI document, seed ${values.seed}: broken,`,
    'unusual and well-formed ones, alone and in sequences. Held to it are the status, type, headers and schema of every answer,',
    'methods that are not taken, data that must be refused, and calls without a key. 503 is allowed where it is documented.',
    'Streams of events, which never end, are left to tests.',
    '',
    `| status | answers |\n|---|---|\n${Object.entries(statuses)
      .map(([status, times]) => `| ${status} | ${times} |`)
      .join('\n')}`,
    '',
    failures.length === 0 ? 'Failures: none.' : `Failures:\n\n${failures.map((failure) => `- ${failure}`).join('\n')}`,
    '',
  ]
}

function formatAnswersReport(report: AnswersReport | undefined): string[] {
  if (!report) return ['Mutated answers: skipped, since ../shared/data is absent.']
  const { answers, tasks, unscored, timeouts, workerExits: hostEnds } = report
  return [
    '## Answers',
    '',
    `${answers} answers: the right ones and recorded ones of real models for ${tasks} tasks, each ${Object.keys(MUTATIONS).length} ways:`,
    `${Object.keys(MUTATIONS).join('; ')}.`,
    '',
    unscored.length === 0
      ? 'Unscored: none.'
      : `Unscored: ${unscored.length}\n\n${unscored
          .slice(0, 100)
          .map((line) => `- ${line}`)
          .join('\n')}`,
    '',
    `Over a deadline of 20 s, where sympy simplifies without a bound: ${timeouts.length === 0 ? 'none.' : ''}`,
    ...timeouts.slice(0, 100).map((line) => `- ${line}`),
    '',
    hostEnds.length === 0
      ? 'Hosts that ended: none.'
      : `Hosts that ended:\n\n${hostEnds.map((line) => `- \`${line}\``).join('\n')}`,
  ]
}
