/** What a native scorer is: the library's rule for one task as a pure function of answer, entry and config. */
import type { z } from 'zod'
import { PyError } from './python/numbers.ts'

/** An item as the library makes it, its metadata in the typed JSON of `src/engine/python/typed_json.py`. */
export interface DatasetEntry {
  question: string
  answer: string | null
  metadata: unknown
}

/** A full config in plain JSON: the recipe's fields over the library's defaults. */
export type ResolvedConfig = Readonly<Record<string, unknown>>

/** The library raises on this answer: a fault of the model, scored 0. */
export class InvalidAnswerError extends Error {}

/**
 * The rule of one item: the library's score of an answer before clamping, bounded in time whatever the answer holds. Throws
 * InvalidAnswerError where the library raises.
 */
type ItemRule = (answer: string, config: ResolvedConfig) => number

/** A task's rule. It reads an entry's metadata once, and throws a ZodError on an entry that is not of the task. */
export type TaskScorer = (entry: DatasetEntry) => ItemRule

/** Declares a task's rule. `metadata` names what the rule reads of the entry. */
export function defineScorer<Metadata>(scorer: {
  metadata: z.ZodType<Metadata>
  score(answer: string, entry: { answer: string | null; metadata: Metadata }, config: ResolvedConfig): number
}): TaskScorer {
  return ({ answer: oracle, metadata }) => {
    const entry = { answer: oracle, metadata: scorer.metadata.parse(metadata) }
    return (answer, config) => scorer.score(answer, entry, config)
  }
}

/** The score of an answer where it is certain without the library; undefined where the library must score it. */
export type PartialRule = (answer: string) => number | undefined

export type PartialScorer = (entry: DatasetEntry) => PartialRule

/** Declares the rule of a task that the library scores. `prepare` gives the rule of one item; the library scores all answers to an entry of another form. */
export function definePartialScorer<Metadata>(scorer: {
  metadata: z.ZodType<Metadata>
  prepare(metadata: Metadata): PartialRule
}): PartialScorer {
  return (entry) => {
    const { data } = scorer.metadata.safeParse(entry.metadata)
    return data === undefined ? () => undefined : scorer.prepare(data)
  }
}

/** Declares a rule that compares with the oracle's answer and reads no metadata. */
export function defineOracleScorer(
  score: (answer: string, oracle: string, config: ResolvedConfig) => number,
): TaskScorer {
  return (entry) => (answer, config) => score(answer, requireOracleAnswer(entry), config)
}

/** A table of rules by task, from lists of the tasks that share a rule. */
export function listByTask<Rule>(rules: readonly (readonly [tasks: string, rule: Rule])[]): Record<string, Rule> {
  return Object.fromEntries(rules.flatMap(([tasks, rule]) => tasks.split(' ').map((task) => [task, rule])))
}

type Words<List extends string> = List extends `${infer First} ${infer Rest}` ? First | Words<Rest> : List
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

/** A table of rules by task, from a module that names each in camel case: `coinFlip` is the rule of `coin_flip`. */
export function listByName<Rule, Tasks extends string>(
  rules: Readonly<Record<CamelCase<Words<Tasks>>, Rule>>,
  ...lists: readonly Tasks[]
): Record<string, Rule> {
  const tasks = lists.flatMap((list) => list.split(' '))
  const find = (task: string) => rules[toCamelCase(task) as keyof typeof rules] // the type demands all of them
  return Object.fromEntries(tasks.map((task) => [task, find(task)]))
}

function toCamelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** The oracle's answer. Throws where an entry has none: its task then has no rule that compares, which is our fault and not the answer's. */
export function requireOracleAnswer(entry: { answer: string | null }): string {
  if (entry.answer === null) throw new Error('the entry has no oracle answer')
  return entry.answer
}

/** What `attempt` gives; throws InvalidAnswerError where Python raises, for rules that do not catch it. */
export function rethrowAsInvalidAnswer<T>(attempt: () => T): T {
  try {
    return attempt()
  } catch (error) {
    if (error instanceof PyError) throw new InvalidAnswerError('the library raises', { cause: error })
    throw error
  }
}

/** Throws InvalidAnswerError for a number that is too large for Python's float. */
export function requireFinite(value: number): number {
  if (!Number.isFinite(value)) throw new InvalidAnswerError('too large for a float')
  return value
}
