/**
 * Replays recorded items and scores through a running server and says per task how many are equal. Without --url, it starts a
 * server of its own.
 * Lines with `question` are items, with `completion` whole responses, all others recorded answers with their score.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import { readLines } from '@reasoning-gym-server/codec/json-lines'
import { call } from './support/http.ts'
import { areScoresEqual } from './support/score-equality.ts'
import { withScriptServer } from './support/with-server.ts'

interface RecordedLine {
  task: string
  config?: Record<string, unknown>
  seed: number
  index: number
  question?: string
  question_sha256?: string
  answer?: string | null
  completion?: string
  model_answer?: string | null
  score?: number | null
  error?: string
  stable?: boolean
}

const CONCURRENCY = 4
const ANSWERS_PER_CALL = 100
/** Tasks whose items depend on `size`, or are bounded by it. */
const SIZE_DEPENDENT_TASKS = new Set(['acre', 'word_ladder', 'gsm_symbolic', 'list_functions'])

const { values, positionals } = parseArgs({ allowPositionals: true, options: { url: { type: 'string' } } })
if (positionals.length === 0) throw new Error('Name a file with recorded lines; --help says how.')

/** By task: how many there are, and how many are equal. */
const tallies = new Map<string, { items: number; itemsEqual: number; scores: number; scoresEqual: number }>()
const differences: string[] = []
let unstableCount = 0
// A server of its own has a long deadline, so that a busy machine does not turn scores into timeouts.
await withScriptServer(values.url, replay, { SCORE_DEADLINE_MS: '20000' })
printReport()
process.exit(differences.length > unstableCount ? 1 : 0)

async function replay(url: string): Promise<void> {
  for (const file of positionals) {
    const recipes = await readRecipes(file)
    const queue = recipes.values()
    const work = async () => {
      for (const lines of queue) await compareRecipe(url, lines)
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
  }
}

/** The lines of a file by recipe, so that an item is made once. */
async function readRecipes(file: string): Promise<Map<string, RecordedLine[]>> {
  const recipes = new Map<string, RecordedLine[]>()
  const stream = createReadStream(file)
  for await (const text of readLines(file.endsWith('.gz') ? stream.pipe(createGunzip()) : stream)) {
    const line = JSON.parse(text) as RecordedLine // the format of these files
    const key = JSON.stringify([line.task, line.config, line.seed, line.index])
    recipes.set(key, [...(recipes.get(key) ?? []), line])
  }
  return recipes
}

async function compareRecipe(url: string, lines: RecordedLine[]): Promise<void> {
  const [first] = lines
  if (!first) return
  const { task, seed, index } = first
  const { size, ...config } = first.config ?? {}
  const isSized = SIZE_DEPENDENT_TASKS.has(task) && size !== undefined
  const recipe = { task, seed, index, config: isSized ? { ...config, size } : config }
  if (!tallies.has(task)) tallies.set(task, { items: 0, itemsEqual: 0, scores: 0, scoresEqual: 0 })
  if (first.error === undefined || first.score !== undefined) await compareItem(url, recipe, first)
  const answers = lines.filter((line) => line.question === undefined)
  for (let k = 0; k < answers.length; k += ANSWERS_PER_CALL)
    await compareScores(url, recipe, answers.slice(k, k + ANSWERS_PER_CALL))
}

async function compareItem(url: string, recipe: object, line: RecordedLine): Promise<void> {
  const { body: posted, text } = await call('POST', `${url}/items`, { body: recipe })
  const item = posted.items?.[0]
  const isRevealed = item && line.question !== undefined
  const revealed = isRevealed ? (await call('GET', `${url}/items/${item.id}?reveal=true`)).body : undefined
  const isQuestionEqual = item && (line.question_sha256 === undefined || sha256(item.question) === line.question_sha256)
  const isAnswerEqual = line.question === undefined || (revealed && revealed.answer === line.answer)
  count(line.task, 'items', isQuestionEqual && isAnswerEqual)
  if (isQuestionEqual && isAnswerEqual) return
  const what = isQuestionEqual ? 'the answer differs' : 'the question differs'
  if (line.stable === false) unstableCount++
  const note = line.stable === false ? ' (a task whose items are not stable)' : ''
  differences.push(`${placeOf(line)}: ${item ? what : text}${note}`)
}

async function compareScores(url: string, recipe: object, lines: RecordedLine[]): Promise<void> {
  const isWhole = lines.some((line) => line.completion !== undefined)
  const rollouts = lines.map(({ completion, answer }) => ({
    recipe,
    ...(completion === undefined ? { answer } : { completion }),
  }))
  const body = { rollouts, dual_format: false, extraction: isWhole ? 'last_tag' : 'bare' }
  const { verdicts } = (await call('POST', `${url}/score`, { body })).body
  for (const [k, line] of lines.entries()) {
    const verdict = verdicts?.[k]
    const wanted = line.score ?? 0
    // Without an answer the library gives some tasks 0.01; here that is 0, with the fault's name.
    const isByOurRule = line.completion !== undefined && (line.model_answer === null || line.score === null)
    const isZeroByRule = isByOurRule && verdict?.score === 0
    const isEqual = verdict?.status === 'scored' && (areScoresEqual(line.task, verdict.score, wanted) || isZeroByRule)
    count(line.task, 'scores', isEqual)
    if (isEqual) continue
    const said = JSON.stringify(line.answer ?? line.completion?.slice(-80))
    differences.push(`${placeOf(line)}: ${said} is ${wanted} there, ${JSON.stringify(verdict)} here`)
  }
}

function placeOf({ task, seed, index }: RecordedLine): string {
  return `${task} seed ${seed} index ${index}`
}

function count(task: string, what: 'items' | 'scores', isEqual: boolean): void {
  const tally = tallies.get(task)
  if (!tally) return
  tally[what]++
  if (isEqual) tally[`${what}Equal`]++
}

function printReport(): void {
  const total = { items: 0, itemsEqual: 0, scores: 0, scoresEqual: 0 }
  console.log('| task | items equal | scores equal |\n|---|---|---|')
  for (const [task, tally] of [...tallies].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`| ${task} | ${tally.itemsEqual}/${tally.items} | ${tally.scoresEqual}/${tally.scores} |`)
    for (const key of ['items', 'itemsEqual', 'scores', 'scoresEqual'] as const) total[key] += tally[key]
  }
  console.log(`| all | ${total.itemsEqual}/${total.items} | ${total.scoresEqual}/${total.scores} |`)
  if (differences.length > 0) console.log(`\nDifferences:\n${differences.join('\n')}`)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
