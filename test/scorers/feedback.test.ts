/** Feedback on answers: true, first things first, nothing on right answers, and nothing that only the reference answer knows. */
import type { ScoringMode } from '@reasoning-gym-server/contract/verdict'
import { bindExplainer, EXPLAINERS } from '@reasoning-gym-server/scorers/feedback/explainers'
import { NATIVE_TASKS } from '@reasoning-gym-server/scorers/native-scorers'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { GeneratedItem } from '../../src/engine/engine.ts'
import { PythonEngine } from '../../src/engine/python-engine.ts'
import { TASK_NAMES } from '../../src/features/tasks/built-in-tasks.ts'
import { Ladders } from '../../src/features/tasks/ladders.ts'
import { Grader } from '../../src/grading/grader.ts'
import { type HardenedItem, makeHardenedItems } from '../../src/grading/hardened-item.ts'
import type { ExplainTask } from '../../src/grading/scorer-thread.ts'
import { applyRule, bindRule, type RuleSpec } from '../../src/grading/scoring-rule.ts'
import { CHECKERS } from './feedback-checkers.ts'

const SEED = 4711
const LISTED = new Set(['acre', 'gsm_symbolic', 'list_functions', 'word_ladder'])
const MUTANTS = 24
/** True of wrong answers alone, and nobody asks for feedback on right ones. */
const OF_WRONG_ONES =
  /more of them than needed|not the shortest|not the smallest|Not all partitions|cube is not solved|nothing new/

let engine: PythonEngine
const ladders = new Ladders()
beforeAll(async () => {
  engine = new PythonEngine({
    pythonPath: inject('python'),
    librarySocket: inject('librarySocket'),
    workersPerPool: 1, // each creates the dataset of every config anew
    scoreDeadlineMs: 20_000,
    makeDeadlineMs: 20_000,
  })
  await engine.waitUntilStarted()
})
afterAll(() => engine.close())

const itemsByTask = new Map<string, Promise<HardenedItem[]>>()

function getItems(task: string): Promise<HardenedItem[]> {
  const items = itemsByTask.get(task) ?? makeItems(task)
  itemsByTask.set(task, items)
  return items
}

/** Two items of the defaults and one from the middle of the ladder. */
async function makeItems(task: string): Promise<HardenedItem[]> {
  const place = (k: number): [number, number] => (LISTED.has(task) ? [SEED, k] : [SEED + k, 0])
  const middle = await engine.canonicalizeConfig(task, ladders.configAt(task, 0.5))
  const made = await Promise.all([
    makeHardenedItems(engine, task, {}, [place(0), place(1)]),
    makeHardenedItems(engine, task, middle, [place(2)]),
  ])
  return made.flat()
}

describe('what is said of an answer is true', () => {
  it.each(TASK_NAMES)('%s', { timeout: 120_000 }, async (task) => {
    const items = await getItems(task)
    expect(items.length).toBeGreaterThan(0)
    for (const [k, { question, entry, score }] of items.entries()) {
      const explain = EXPLAINERS[task]?.(question)
      const right = entry.answer?.trim()
      const random = createRandom(SEED + k)
      if (right !== undefined)
        expect(OF_WRONG_ONES.test(explain?.(right)?.text ?? 'nothing new'), `${task}: ${right}`).toBe(true)
      const mutants = listAnswers(task, { entry }, items[k === 0 ? 1 : 0] ?? { entry }, random)
      const scores = NATIVE_TASKS.has(task) ? await score(mutants) : mutants.map(() => 0)
      for (const [m, mutant] of mutants.entries()) {
        const violation = explain?.(mutant)
        if (scores[m] === 1 || violation === undefined) continue
        const checked =
          violation.kind === 'format'
            ? undefined
            : CHECKERS[task]?.(mutant, entry.metadata as Record<string, unknown>, violation.text, {
                question,
                entry,
              })
        checkedSentences.set(task, (checkedSentences.get(task) ?? 0) + (checked === undefined ? 0 : 1))
        expect(checked ?? true, `${violation.text}\n${mutant}\n${question}`).toBe(true)
        if (violation.where) for (const place of Object.values(violation.where)) expect(place).toBeGreaterThan(0)
      }
    }
  })

  it('by a second opinion', () => {
    const missing = Object.keys(CHECKERS).filter((task) => !checkedSentences.get(task))
    expect(missing).toEqual([])
  })
})

const checkedSentences = new Map<string, number>()

describe('a solver that reads feedback excludes no reference answer but those that accept one of its answers', () => {
  it.each(TASK_NAMES)('%s', { timeout: 120_000 }, async (task) => {
    const items = await getItems(task)
    const [item, other] = items
    if (!item || !other) throw new Error(`${task} has no items`)
    const random = createRandom(SEED)
    const answers = listAnswers(task, item, other, random)
    const [mine, theirs] = [item.entry, other.entry]
    const crossed = [
      { ...mine, answer: theirs.answer },
      { ...theirs, answer: mine.answer },
    ]
    const references = [...items.map(({ entry }) => entry), ...crossed]
    let compared = 0
    for (const scoring of ['upstream', 'hardened'] as const) {
      const told = await Promise.all(references.map((entry) => grade(task, item.question, entry, answers, scoring)))
      for (const [k, answer] of answers.entries()) {
        const feedbacks = told.flatMap((feedback) => feedback[k] ?? [])
        expect(
          new Set(feedbacks.map((one) => JSON.stringify(one))).size,
          `${task}, ${scoring}: ${answer}\n${JSON.stringify(feedbacks)}`,
        ).toBeLessThan(2)
      }
      compared += answers.filter((_, k) => told.filter((feedback) => feedback[k]).length > 1).length
    }
    expect(compared).toBeGreaterThan(answers.length / 2)
  })
})

it('a solver that reads feedback needs fewer tries than one that only excludes its wrong answers', async () => {
  const config = await engine.canonicalizeConfig('graph_color', { min_num_vertices: 8, max_num_vertices: 8 })
  const places = Array.from({ length: 8 }, (_, k): [number, number] => [SEED + k, 0])
  const items = await makeHardenedItems(engine, 'graph_color', config, places)
  const random = createRandom(SEED)
  const draw = () => String(1 + random(3))
  const tries = { reading: 0, excluding: 0 }
  for (const { question, entry, score } of items) {
    const { vertices } = (entry.metadata as { puzzle: { vertices: number[] } }).puzzle
    for (const kind of ['reading', 'excluding'] as const) {
      let colors = vertices.map(draw)
      for (let k = 0; k < 500; k++) {
        const answer = JSON.stringify(Object.fromEntries(vertices.map((vertex, i) => [vertex, Number(colors[i])])))
        const [found] = await score([answer])
        if (found === 1) break
        tries[kind]++
        const [, u] = /^Vertices (\d+) and/.exec(EXPLAINERS.graph_color?.(question)(answer)?.text ?? '') ?? []
        colors = kind === 'excluding' ? vertices.map(draw) : colors.with(vertices.indexOf(Number(u)), draw())
      }
    }
  }
  expect(tries.reading).toBeLessThan(tries.excluding / 2)
})

/** The feedback of a grader whose item has this question, and an entry that may be of another one. */
async function grade(
  task: string,
  question: string,
  entry: GeneratedItem['entry'],
  answers: string[],
  scoring: ScoringMode,
) {
  const grader = new Grader({
    engine,
    loadEntry: async () => entry,
    loadQuestion: async () => question,
    statistics: { recordScoredRollouts: () => {}, recordScorerCalls: () => {} },
    threadPool: {
      score: async (spec: RuleSpec, answer: string) => applyRule(bindRule(spec), answer),
      explain: async (spec: ExplainTask['spec'], answer: string) => bindExplainer(spec.task, spec.question)?.(answer),
    } as never, // without threads
    maxAnswerChars: 65_536,
  })
  const recipe = { task, config: {}, seed: 1, index: 0, difficulty: null, engine: engine.versionOf(task) } as never
  const rules = { extraction: 'bare', dual_format: false, scoring, feedback: 'rule' } as const
  const verdicts = await grader.grade(
    recipe,
    answers.map((answer) => ({ kind: 'answer', answer }) as const),
    rules,
  )
  return verdicts.map((verdict) => (verdict.status === 'scored' ? verdict.feedback : undefined))
}

type Made = Pick<GeneratedItem, 'entry'>
type Random = (below: number) => number

function createRandom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}

/** Answers that have the wrong form, whatever the question. */
const STRANGE = ['?', '-1', '[]', '{"a": 1}', 'the answer is 7', '1/0', '7\n8 9', '”½∑']

/** Mutations of the right answer, the right answer to another question, and answers of a wrong form. */
function listAnswers(task: string, { entry }: Made, other: Made, random: Random): string[] {
  const right = entry.answer?.trim() ?? guess(task, entry.metadata, random)
  const mutants = Array.from({ length: MUTANTS }, () => mutate(right, random))
  const near = [
    `${right} ${right}`,
    `${right}.`,
    right.split(/\s/)[0] ?? '',
    ...(/^-?\d+$/.test(right) ? [String(BigInt(right) + 1n), String(BigInt(right) * 2n), `-${right}`] : []),
  ]
  return [...new Set([...mutants, ...near, other.entry.answer?.trim() ?? '7', ...STRANGE])].filter(
    (answer) => answer.trim() !== '',
  )
}

/** An answer with one digit, character, word or line changed, dropped or swapped. */
function mutate(answer: string, random: Random): string {
  const swap = (parts: string[], i: number, k: number) => {
    ;[parts[i], parts[k]] = [parts[k] ?? '', parts[i] ?? '']
    return parts
  }
  const chars = [...answer]
  const digits = chars.flatMap((ch, i) => (/\d/.test(ch) ? [i] : []))
  const digit = () => digits[random(digits.length)] ?? 0
  const [lines, words] = [answer.split('\n'), answer.split(' ')]
  const kinds = [
    () => chars.with(digit(), String(random(10))).join(''),
    () => swap(chars, digit(), digit()).join(''),
    () => lines.toSpliced(random(lines.length), 1).join('\n'),
    () => swap(lines, random(lines.length), random(lines.length)).join('\n'),
    () => swap(words, random(words.length), random(words.length)).join(' '),
    () => words.toSpliced(random(words.length), 1).join(' '),
    () => swap(chars, random(chars.length), random(chars.length)).join(''),
    () => chars.toSpliced(random(chars.length), 1).join(''),
  ]
  const from = digits.length > 0 ? 0 : 2
  return kinds[from + random(kinds.length - from)]?.() ?? answer
}

/** An answer for items that have none of their own. */
function guess(task: string, metadata: unknown, random: Random): string {
  if (task === 'propositional_logic') return (metadata as { example_answer: string }).example_answer
  if (task !== 'graph_color') return 'A+1 B-1 C+2'
  const { vertices, color_options: colors } = (metadata as { puzzle: { vertices: number[]; color_options: number[] } })
    .puzzle
  return JSON.stringify(Object.fromEntries(vertices.map((vertex) => [vertex, colors[random(colors.length)]])))
}
