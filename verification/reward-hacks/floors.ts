/** Blind policies in random cells (a task at one rung) of the task cards: whether one earns more than the guess floor there. */
import { getCorrectAnswer } from '@reasoning-gym-server/mock-model/answers'
import { fitBestModel, type Predictor } from '../../scripts/task-cards/linear-models.ts'
import type { Example } from '../../scripts/task-cards/question-features.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { TASK_NAMES } from '../../src/features/tasks/built-in-tasks.ts'
import type { Ladders } from '../../src/features/tasks/ladders.ts'
import type { TaskCards } from '../../src/features/tasks/task-cards.ts'
import { type HardenedItem, makeHardenedItems } from '../../src/grading/hardened-item.ts'
import { listPositions } from './search.ts'
import { buildStrategies, getMostCommon } from './strategies.ts'

const FITTED_ITEMS = 400
const MEASURED_ITEMS = 200
/** Tasks that are slower to make or to score get fewer items. */
const MAX_MAKE_MS = 15_000
const SCREENED_ITEMS = 20
const KEPT_STRATEGIES = 5
const MIN_EXAMPLES = 12

interface Cell {
  task: string
  rung: number
  /** The larger of what guessing and what memory earns. */
  floor: number
  floorError: number
}

export interface BlindResult extends Cell {
  policy: string
  mean: number
  stderr: number
}

export function drawCells(ladders: Ladders, cards: TaskCards, count: number, random: () => number): Cell[] {
  return Array.from({ length: count }, () => {
    const task = TASK_NAMES[Math.floor(random() * TASK_NAMES.length)] ?? ''
    const rung = Math.floor(random() * ladders.rungs(task).length)
    const { guess_floor, lookup_floor, guess_floor_stderr } = cards.rung(task, rung) ?? {}
    const floor = Math.max(guess_floor?.hardened ?? 0, lookup_floor?.hardened ?? 0)
    return { task, rung, floor, floorError: guess_floor_stderr?.hardened ?? 0 }
  })
}

/** The blind policy that earns most, measured on other items than those that it was fitted or chosen on. */
export async function findBestBlindPolicy(
  { engine, ladders, cards }: { engine: Engine; ladders: Ladders; cards: TaskCards },
  cell: Cell,
  seed: number,
): Promise<BlindResult | undefined> {
  const { task, rung } = cell
  const config = await engine.canonicalizeConfig(task, ladders.rungs(task)[rung]?.config ?? {})
  const affordable = Math.floor(MAX_MAKE_MS / (cards.rung(task, rung)?.make_ms ?? 1))
  const count = Math.min(FITTED_ITEMS + MEASURED_ITEMS, Math.max(60, affordable))
  const items = await makeHardenedItems(engine, task, config, listPositions(task, seed, count))
  const fitted = items.slice(0, Math.round((items.length * 2) / 3))
  const known = new Set(fitted.map(({ question }) => question))
  const measured = items.slice(fitted.length).filter(({ question }) => !known.has(question))
  const examples = fitted.flatMap(({ question, entry }) => {
    const answer = getCorrectAnswer({ task, ...entry })
    return answer === undefined ? [] : [{ question, answer }]
  })
  if (examples.length === 0 || measured.length === 0) return undefined
  const policies: Record<string, Predictor> = {
    'linear model': fitBestModel(examples),
    'one word': fitOneWord(examples),
    'most common answer of the template': fitTemplates(examples),
    ...(await chooseStrategies(task, examples, fitted, seed)),
  }
  const results: BlindResult[] = []
  for (const [policy, answer] of Object.entries(policies)) {
    const scores = await scoreEach(measured, answer)
    results.push({ ...cell, policy, ...summarize(scores) })
  }
  return results.toSorted((a, b) => b.mean - a.mean)[0]
}

async function chooseStrategies(task: string, examples: Example[], items: HardenedItem[], seed: number) {
  const screened = items.slice(0, SCREENED_ITEMS)
  const strategies = buildStrategies(task, examples.slice(SCREENED_ITEMS), 20, seed)
  const sums = strategies.map(() => 0)
  for (const item of screened) {
    const scores = await item.score(strategies.map((strategy) => strategy.answer(item.question)))
    for (const [k, score] of scores.entries()) sums[k] = (sums[k] ?? 0) + score
  }
  const best = strategies.map((strategy, k) => ({ strategy, sum: sums[k] ?? 0 })).toSorted((a, b) => b.sum - a.sum)
  return Object.fromEntries(
    best
      .slice(0, KEPT_STRATEGIES)
      .map(({ strategy }): [string, Predictor] => [strategy.name, (question) => strategy.answer(question)]),
  )
}

/** The word, symbol or number by whose presence the answers differ most. */
function fitOneWord(examples: readonly Example[]): Predictor {
  const words = examples.map(({ question }) => listWords(question))
  const split = (word: string) => {
    const [present, absent] = [true, false].map((has) => examples.filter((_, k) => words[k]?.has(word) === has))
    return { word, present: countMostCommon(present ?? []), absent: countMostCommon(absent ?? []) }
  }
  const counts = Map.groupBy(
    words.flatMap((some) => [...some]),
    (word) => word,
  )
  const best = [...counts]
    .filter(([, { length }]) => length >= MIN_EXAMPLES && length <= examples.length - MIN_EXAMPLES)
    .slice(0, 500)
    .map(([word]) => split(word))
    .reduce(
      (top, one) => (one.present.count + one.absent.count > top.present.count + top.absent.count ? one : top),
      split('\0'),
    )
  return (question) => (listWords(question).has(best.word) ? best.present : best.absent).answer
}

function listWords(question: string): Set<string> {
  return new Set(question.match(/\p{L}+|\d+|[^\s\p{L}\d]+/gu))
}

/** Questions without their numbers. */
function fitTemplates(examples: readonly Example[]): Predictor {
  const toTemplate = (question: string) => question.replaceAll(/\d+/g, '#')
  const answers = new Map(
    [...Map.groupBy(examples, ({ question }) => toTemplate(question))].map(([template, some]) => [
      template,
      countMostCommon(some).answer,
    ]),
  )
  return (question) => answers.get(toTemplate(question)) ?? countMostCommon(examples).answer
}

function countMostCommon(examples: readonly Example[]): { answer: string; count: number } {
  const answers = examples.map(({ answer }) => answer)
  const [most = ''] = getMostCommon(answers, 1)
  return { answer: most, count: answers.filter((answer) => answer === most).length }
}

async function scoreEach(items: readonly HardenedItem[], answer: Predictor): Promise<number[]> {
  const scores: number[] = []
  for (const item of items) scores.push(...(await item.score([answer(item.question)])))
  return scores
}

function summarize(scores: readonly number[]): { mean: number; stderr: number } {
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
  const squares = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0)
  return { mean, stderr: Math.sqrt(squares) / scores.length }
}
