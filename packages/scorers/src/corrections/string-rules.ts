/** Corrections of tasks that rewrite a string or a set of blocks by rules: in which order the rules apply. */
import { z } from 'zod'
import type { Correction } from './correction.ts'

const Insertion = z.looseObject({ string: z.string(), solution: z.string() })
const INSERTIONS = [
  ['ABCD', 'A'],
  ['BCDE', 'B'],
  ['CDEA', 'C'],
  ['DEAB', 'D'],
  ['EABC', 'E'],
] as const

export const stringInsertion: Correction = {
  reason: 'The question does not say whether one search covers all five substrings, or one search each.',
  clarification({ metadata }) {
    const { string, solution } = Insertion.parse(metadata)
    const byRule = INSERTIONS.reduce((text, [part, letter]) => text.replaceAll(part, part + letter), string)
    return byRule === solution
      ? undefined
      : 'Note: search the string once, from left to right, for all five substrings at each place.'
  },
}

const Tuple = z.strictObject({ $tuple: z.array(z.int()) })
const Synthesis = z.looseObject({ initial_blocks: Tuple, solution: z.array(z.int()) })
const LIMIT_PATTERN = /Apply the rules at most (\d+) times/
/** The places of the blocks that a rule takes, one for each block, and of those that it gives. */
const BLOCK_RULES: readonly (readonly [takes: readonly number[], gives: readonly number[]])[] = [
  [[0, 1, 2], [3]],
  [[0, 1], [5]],
  [[1, 2], [4]],
  [[2, 2], [5]],
  [
    [3, 5],
    [6, 7],
  ],
  [[4, 4], [8]],
]

export const stringSynthesis: Correction = {
  reason: 'The question can be read as using each rule once in turn, but the key restarts from rule 1.',
  clarification({ question, metadata }) {
    const { initial_blocks, solution } = Synthesis.parse(metadata)
    const limit = Number(LIMIT_PATTERN.exec(question)?.[1])
    const inTurn = useInTurn([...initial_blocks.$tuple, 0, 0, 0, 0, 0, 0], limit)
    return inTurn.join() === solution.join() ? undefined : 'Note: after each use of a rule, start again from rule 1.'
  },
}

/** Each rule once in turn, while one can be used. There are fewer uses than blocks. */
function useInTurn(counts: number[], limit: number): number[] {
  let uses = 0
  let before = -1
  while (uses > before) {
    before = uses
    for (const rule of BLOCK_RULES) if (uses < limit && useRule(counts, rule)) uses++
  }
  return counts
}

function useRule(counts: number[], [takes, gives]: readonly [readonly number[], readonly number[]]): boolean {
  if (takes.some((block) => (counts[block] ?? 0) < takes.filter((other) => other === block).length)) return false
  for (const block of takes) counts[block] = (counts[block] ?? 0) - 1
  for (const block of gives) counts[block] = (counts[block] ?? 0) + 1
  return true
}

type Rewrite = (text: string) => string

/** How a rule is recognized in the question, and what it does. Each changes any text that it fits. */
const REWRITES: readonly (readonly [rule: string, rewrite: Rewrite])[] = [
  ["prefix is 'ab'", (s) => s.replace(/^ab/, 'ca')],
  ["suffix is 'ac'", (s) => s.replace(/ac$/, 'cb')],
  ["prefix is 'bc'", (s) => (s.startsWith('bc') ? `${s.slice(2)}aa` : s)],
  ["suffix is 'bb'", (s) => s.replace(/bb$/, '')],
  ["prefix is 'cb'", (s) => (s.startsWith('cb') ? `aa${s.slice(2)}`.slice(0, -1) : s)],
  ["prefix is 'ca'", (s) => (s.startsWith('ca') ? `bb${s.slice(2)}c` : s)],
  ["suffix is 'cc'", (s) => (s.endsWith('cc') ? `a${s.slice(0, -2)}b` : s)],
  ["prefix is 'aa'", (s) => s.replace(/^aa/, 'a')],
  ["contains 'abc'", (s) => s.replace('abc', 'cab')],
  ["contains 'bca'", (s) => s.replace('bca', '')],
  ["ends with 'ba'", (s) => s.replace(/ba$/, 'ab')],
  ["starts with 'cc'", (s) => s.replace(/^cc/, '')],
  ["contains 'acb'", (s) => s.replace('acb', 'bca')],
  ["ends with 'ca'", (s) => s.replace(/ca$/, 'c')],
  ["starts with 'bb'", (s) => s.replace(/^bb/, 'b')],
  ["ends with 'aa'", (s) => s.replace(/aa$/, 'cc')],
  ["contains 'ca' (not at the start)", (s) => s.slice(0, 1) + s.slice(1).replace('ca', '')],
  ["even number of 'b's", (s) => (s.includes('b') && s.split('b').length % 2 === 1 ? `${s}ab` : s)],
  ['length is greater than 15', (s) => (s.length > 15 ? removeAt(s, Math.ceil(s.length / 2) - 1) : s)],
  ["starts with 'ac'", (s) => s.replace(/^ac/, 'zz')],
]

function removeAt(text: string, index: number): string {
  return text.slice(0, index) + text.slice(index + 1)
}

const Manipulation = z.looseObject({
  string: z.string(),
  states: z.array(z.string()),
  selected_rules: z.array(z.string()),
})

/** The key of this text should be "aa" without its last character: no rule fits that. */
const MISREAD_STATE = 'cb'

function getRightResult({ states, selected_rules }: z.infer<typeof Manipulation>): string {
  const isMisread = states.includes(MISREAD_STATE) && selected_rules.some((rule) => rule.includes("prefix is 'cb'"))
  return isMisread ? 'a' : (states.at(-1) ?? '')
}

export const stringManipulation: Correction = {
  reason: 'An even length has two middles, the rule for "cb" keeps a letter of it, and the key may be empty.',
  keys({ entry }) {
    const right = getRightResult(Manipulation.parse(entry.metadata))
    return right === entry.answer ? undefined : [right]
  },
  hasRightAnswer: ({ metadata }) => getRightResult(Manipulation.parse(metadata)) !== '',
  clarification({ metadata }) {
    const item = Manipulation.parse(metadata)
    if (!item.selected_rules.some((rule) => rule.includes('middle character'))) return undefined
    return rewriteWithLeftMiddle(item) === getRightResult(item)
      ? undefined
      : 'Note: in a string of even length, the middle character is the first one of the second half.'
  },
}

/** The result if the middle ends the first half; undefined if it takes many more steps than the key. */
function rewriteWithLeftMiddle({ string, states, selected_rules }: z.infer<typeof Manipulation>): string | undefined {
  const rewrites = selected_rules.flatMap((rule) => REWRITES.filter(([part]) => rule.includes(part)))
  const seen = new Set<string>()
  let text = string
  while (seen.size < 4 * states.length + 100) {
    seen.add(text)
    const fitting = rewrites.find(([, rewrite]) => rewrite(text) !== text)
    const next = fitting?.[1](text) ?? text
    if (seen.has(next)) return text
    text = next
  }
  return undefined
}
