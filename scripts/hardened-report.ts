/**
 * What hardened scoring changes of recorded verdicts: how many per task, up and down, with examples.
 *   npm run hardened:report -- [--examples 2] FILE.jsonl.gz …
 * A line holds task, config, seed, index, answer and the library's score.
 */
import { createReadStream } from 'node:fs'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import { PythonEngine } from '../src/engine/python.ts'
import { linesOf } from '../src/json-lines.ts'
import { preparePython } from '../src/prepare/python-environment.ts'
import { hardenedItems } from './holes/hardened-item.ts'

interface Line {
  task: string
  config: Record<string, unknown>
  seed: number
  index: number
  answer: string
  score: number
}

interface Tally {
  answers: number
  before: number
  after: number
  /** From less than 1 to 1, and from 1 to less. */
  toOne: number
  fromOne: number
  up: string[]
  down: string[]
}

const CLOSE = 1e-9

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { examples: { type: 'string', default: '2' }, help: { type: 'boolean' } },
})
if (values.help || positionals.length === 0) {
  console.log('npm run hardened:report -- [--examples 2] FILE.jsonl.gz …')
  process.exit(values.help ? 0 : 2)
}
const engine = new PythonEngine({
  python: await preparePython(console.error),
  hosts: 1,
  scoreDeadlineMs: 10_000,
  makeDeadlineMs: 30_000,
})
await engine.started()
const tallies = new Map<string, Tally>()
for (const lines of (await readRecipes(positionals)).values()) await compare(lines)
await engine.close()
report(Number(values.examples))

/** The lines by recipe, so that an item is made once. */
async function readRecipes(files: readonly string[]): Promise<Map<string, Line[]>> {
  const recipes = new Map<string, Line[]>()
  for (const file of files) {
    const stream = createReadStream(file)
    for await (const text of linesOf(file.endsWith('.gz') ? stream.pipe(createGunzip()) : stream)) {
      const line = JSON.parse(text) as Line // the format of these files
      if (typeof line.answer !== 'string' || typeof line.score !== 'number') continue
      const key = JSON.stringify([line.task, line.config, line.seed, line.index])
      recipes.set(key, [...(recipes.get(key) ?? []), line])
    }
  }
  return recipes
}

async function compare(lines: readonly Line[]): Promise<void> {
  const [{ task, config, seed, index } = lines[0] as Line] = lines // a recipe has lines
  const [item] = await hardenedItems(engine, task, await engine.canonical(task, config), [[seed, index]])
  if (item === undefined) {
    console.error(`${task} ${seed} ${index}: not made`)
    return
  }
  const tally = tallies.get(task) ?? { answers: 0, before: 0, after: 0, toOne: 0, fromOne: 0, up: [], down: [] }
  tallies.set(task, tally)
  const scores = await item.score(lines.map(({ answer }) => answer))
  for (const [k, { answer, score: before }] of lines.entries())
    count(tally, answer, before, scores[k] ?? 0, item.entry.answer)
}

function count(tally: Tally, answer: string, before: number, after: number, oracle: string | null): void {
  tally.answers++
  tally.before += before
  tally.after += after
  if (Math.abs(after - before) <= CLOSE) return
  if (after === 1) tally.toOne++
  if (before === 1) tally.fromOne++
  const wanted = oracle === null ? '' : ` (oracle ${short(oracle)})`
  const list = after > before ? tally.up : tally.down
  list.push(`${shown(before)} to ${shown(after)}: ${short(answer)}${wanted}`)
}

function report(examples: number): void {
  const all = [...tallies].toSorted(([a], [b]) => (a < b ? -1 : 1))
  console.log('| task | answers | mean before | mean after | up | to 1 | down | from 1 |')
  console.log('|---|---|---|---|---|---|---|---|')
  for (const [task, tally] of all) console.log(row(task, tally))
  const sum = (of: (tally: Tally) => number) => all.reduce((total, [, tally]) => total + of(tally), 0)
  const total = { answers: sum((t) => t.answers), before: sum((t) => t.before), after: sum((t) => t.after) }
  const lists = { up: all.flatMap(([, { up }]) => up), down: all.flatMap(([, { down }]) => down) }
  console.log(row('all', { ...total, ...lists, toOne: sum((t) => t.toOne), fromOne: sum((t) => t.fromOne) }))
  for (const [task, { up, down }] of all) {
    for (const example of up.slice(0, examples)) console.log(`${task}, up, ${example}`)
    for (const example of down.toSorted().reverse().slice(0, examples)) console.log(`${task}, down, ${example}`)
  }
}

function row(task: string, { answers, before, after, toOne, fromOne, up, down }: Tally): string {
  const means = `${(before / answers).toFixed(3)} | ${(after / answers).toFixed(3)}`
  return `| ${task} | ${answers} | ${means} | ${up.length} | ${toOne} | ${down.length} | ${fromOne} |`
}

/** Two places, but never 1 for what is less. */
function shown(score: number): string {
  return score < 1 && score >= 0.995 ? score.toFixed(4) : score.toFixed(2)
}

function short(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 97)}...` : text)
}
