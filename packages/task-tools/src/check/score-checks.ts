/**
 * Checks the scores of a task: its own answers, hostile answers, and repeats, beside guesses (guess-checks.ts). A scorer in
 * TypeScript or JavaScript must agree with the one in Python.
 */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Finding, fail, ok, warn } from '@reasoning-gym-server/contract/finding'
import type { Config } from '@reasoning-gym-server/contract/recipe'
import type { DatasetEntry } from '@reasoning-gym-server/scorers/scorer'
import type { CustomTask, EngineOutcome } from '../engine.ts'
import { seededRandom } from '../seeded-random.ts'
import { checkGuesses } from './guess-checks.ts'
import { buildExploits } from './hostile-answers.ts'
import {
  type CheckContext,
  describeOutcome,
  formatMs,
  type MadeItem,
  measureUsual,
  quote,
  scoreAll,
} from './item-checks.ts'
import { generateMutants } from './mutants.ts'

const SLOW_SCORE_MS = 20
/** Answers that are almost right, per item. */
const MUTANTS = 25
/** Hostile answers are no answers to any question, but may hold the right one among other things. */
const MAX_EXPLOIT_SCORE = 0.1
const WRONG_SCORE = 0.5
const MAX_FAULTS = 5

export async function checkScores(context: CheckContext, items: MadeItem[]): Promise<Finding[]> {
  return [
    ...(await checkOracle(context, items)),
    await checkRange(context, items),
    ...(await checkGuesses(context, items)),
    await checkExploits(context, items),
  ]
}

async function checkOracle(context: CheckContext, items: MadeItem[]): Promise<Finding[]> {
  const times: number[] = []
  for (const item of items) {
    const started = performance.now()
    const [outcome] = await scoreAll(context, item, [item.entry.answer ?? ''])
    times.push(performance.now() - started)
    if (outcome?.kind === 'value' && outcome.value === 1) continue
    const found = `seed ${item.position[0]}: its own answer ${quote(item.entry.answer ?? '')} ${describeScore(outcome)} instead of scoring 1.0`
    const advice = 'score_answer runs in another process than __getitem__: it may use only the answer and the entry'
    return [fail('oracle', found, advice)]
  }
  const usual = measureUsual(times)
  const speed = `${formatMs(usual)} per score, ${formatMs(Math.max(...times))} at most`
  return [
    ok('oracle', `all ${items.length} items give their own answer 1.0`),
    usual > SLOW_SCORE_MS
      ? warn('score speed', speed, 'a trainer posts thousands of answers at once: score without searching, if you can')
      : ok('score speed', speed),
  ]
}

/** Scores of almost right answers, each twice and in the opposite order. */
async function checkRange(context: CheckContext, items: MadeItem[]): Promise<Finding> {
  const random = seededRandom(1)
  let answers = 0
  let raised = 0
  for (const [k, item] of items.slice(0, 20).entries()) {
    const texts = [
      ...new Set(generateMutants(item.entry.answer ?? '', items[k + 1]?.entry.answer ?? '42', MUTANTS, random)),
    ]
    const scores = await scoreAll(context, item, texts)
    const again = await scoreAll(context, item, texts.toReversed())
    for (const [n, text] of texts.entries()) {
      const score = scores[n]
      const repeated = again.at(-1 - n)
      const where = `seed ${item.position[0]}: ${quote(text)} ${describeScore(score)}`
      answers++
      if (score?.kind === 'lost') return fail('scores', where, 'score_answer must return for any text, in time')
      if (score?.kind === 'raised') raised++
      if (score?.kind === 'value' && !(Number(score.value) >= 0 && Number(score.value) <= 1))
        return fail('scores', where, 'scores must be from 0 to 1')
      if (describeOutcome(score) !== describeOutcome(repeated)) {
        const advice = 'score_answer must not keep anything between two answers, and must not use random numbers'
        return fail('scores', `${where}, and then ${describeScore(repeated)}`, advice)
      }
    }
  }
  const found = `${answers} answers that are almost right score from 0 to 1, and twice the same`
  if (raised <= answers / 2) return ok('scores', found)
  const advice = 'such answers get 0, but an error in the scorer looks the same: catch what a wrong answer can cause'
  return warn('scores', `${raised} of ${answers} answers that are almost right raise an exception`, advice)
}

function describeScore(outcome: EngineOutcome | undefined): string {
  if (outcome?.kind === 'raised') return `raises ${outcome.detail}`
  if (outcome?.kind === 'value') return `scores ${Number(outcome.value)}`
  return `is not scored: ${describeOutcome(outcome)}`
}

/** Answers that would run code, hang or fill memory. */
async function checkExploits(context: CheckContext, [item]: MadeItem[]): Promise<Finding> {
  if (!item) return ok('hostile', 'no item')
  const exploits = buildExploits(join(tmpdir(), 'task-check-marker'), 1)
  let slowest = { ms: 0, name: '' }
  const faults: string[] = []
  const parts: string[] = []
  for (const { name, text } of exploits) {
    if (faults.length === MAX_FAULTS) break // each may take as long as the deadline
    const started = performance.now()
    const [outcome] = await scoreAll(context, item, [text])
    const ms = performance.now() - started
    if (ms > slowest.ms) slowest = { ms, name }
    const score = outcome?.kind === 'value' && text.trim() !== item.entry.answer ? Number(outcome.value) : 0
    if (outcome?.kind === 'lost') faults.push(`${name}: ${describeOutcome(outcome)}`)
    else if (score >= WRONG_SCORE) faults.push(`${name} scores ${score}`)
    else if (score > MAX_EXPLOIT_SCORE) parts.push(`${name} scores ${score}`)
  }
  const count = (list: string[]) =>
    `${list.length === MAX_FAULTS ? `at least ${MAX_FAULTS}` : list.length} of ${exploits.length} hostile answers: ${list.slice(0, 3).join('; ')}`
  if (faults.length > 0) {
    const advice =
      'never eval an answer, limit its length before loops and regular expressions, and give nothing to what is no answer'
    return fail('hostile', count(faults), advice)
  }
  if (parts.length > 0) {
    const advice =
      'give nothing to what is no answer. The score_answer of ProceduralDataset gives a part to every text that contains the answer: write your own'
    return warn('hostile', count(parts), advice)
  }
  return ok(
    'hostile',
    `${exploits.length} hostile answers are scored, the slowest in ${formatMs(slowest.ms)} (${slowest.name})`,
  )
}

type FileScore = { kind: 'score'; score: number } | { kind: 'raised' } | { kind: 'failed'; detail: string }

/** Scores answers with the files of tasks. */
export interface ScorerFiles {
  score(
    spec: { task: string; file: string; codeHash: string; entry: DatasetEntry; config: Config },
    answer: string,
  ): Promise<FileScore>
}

interface ScorerComparison {
  answers: number
  differences: { seed: number; answer: string; python: string; file: string }[]
}

/** `perItem` answers to each item: right, almost right, and garbage. Equal seeds compare the same. */
export async function compareScorers(
  { engine, task, defaults }: Pick<CheckContext, 'engine' | 'task' | 'defaults'>,
  custom: CustomTask,
  scorerFiles: ScorerFiles,
  items: MadeItem[],
  perItem: number,
  seed: number,
): Promise<ScorerComparison> {
  const random = seededRandom(seed)
  const comparison: ScorerComparison = { answers: 0, differences: [] }
  if (!custom.scorer) return comparison
  for (const [k, { position, entry }] of items.entries()) {
    const texts = [...new Set(generateMutants(entry.answer ?? '', items[k - 1]?.entry.answer ?? '42', perItem, random))]
    const spec = {
      task,
      file: custom.scorer,
      codeHash: custom.code_hash,
      entry,
      config: defaults,
    }
    const scoreBoth = async (answers: string[]) => {
      const [inPython, inFile] = await Promise.all([
        engine.score(task, {}, position[0], entry, answers),
        Promise.all(answers.map((answer) => scorerFiles.score(spec, answer))),
      ])
      return answers.map((answer, n) => ({
        answer,
        python: describePython(inPython[n]),
        file: describeFile(inFile[n]),
        isFailed: inPython[n]?.kind === 'lost' || inFile[n]?.kind === 'failed',
      }))
    }
    for (const first of await scoreBoth(texts)) {
      comparison.answers++
      // again, since a deadline may pass on a machine that stands still
      const [{ answer, python, file } = first] = first.isFailed ? await scoreBoth([first.answer]) : []
      if (python !== file) comparison.differences.push({ seed: position[0], answer, python, file })
    }
  }
  return comparison
}

export async function checkScorerFile(
  context: CheckContext,
  custom: CustomTask,
  scorerFiles: ScorerFiles,
  items: MadeItem[],
): Promise<Finding> {
  const { answers, differences } = await compareScorers(context, custom, scorerFiles, items.slice(0, 40), 25, 1)
  const [first] = differences
  if (!first) return ok('scorer', `${custom.scorer} agrees with score_answer on ${answers} answers`)
  const { seed, answer, python, file } = first
  const found = `${differences.length} of ${answers} answers differ from score_answer, such as ${quote(answer)} for seed ${seed}: ${file} instead of ${python}`
  return fail('scorer', found, `correct ${custom.scorer}, or remove it: the server then scores in Python`)
}

function describePython(outcome: EngineOutcome | undefined): string {
  if (outcome?.kind === 'value') return String(outcome.value)
  return outcome?.kind === 'raised' ? 'raised' : (outcome?.detail ?? 'nothing')
}

function describeFile(result: FileScore | undefined): string {
  if (result?.kind === 'score') return String(result.score)
  return result?.kind === 'raised' ? 'raised' : (result?.detail ?? 'nothing')
}
