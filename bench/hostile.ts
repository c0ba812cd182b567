/** Answers that stop a server which scores as it comes: a number too large to write, and a sum that sympy does not end with. */
import type { ItemCompletions } from './completions.ts'
import type { OurServer } from './servers.ts'

const UNBOUNDED_EXPRESSIONS = [...'xXyYzZaAbBcCdDeEfFgGhH'].map(
  (v) => `(sin(${v})+cos(${v})+tan(${v})+${v}**2)**9/(exp(${v})+log(${v})+${v}**7)**9`,
)
const HOSTILE_ANSWERS = [
  { task: 'countdown', answer: '9**9**9**9' },
  { task: 'simple_integration', answer: UNBOUNDED_EXPRESSIONS.join('+') },
  { task: 'polynomial_equations', answer: `${'('.repeat(20_000)}1` },
  { task: 'simple_equations', answer: '9'.repeat(60_000) },
]

function complete(task: string, answer: string): ItemCompletions {
  return { task, seed: 1, index: 0, config: {}, completions: [`<answer>${answer}</answer>`], scores: [null] }
}

/** The kinds in turn; no answer comes twice. Nobody expects a score of them. */
export function makeHostileCompletion(number: number): ItemCompletions {
  const { task = '', answer } = HOSTILE_ANSWERS[number % HOSTILE_ANSWERS.length] ?? {}
  return complete(task, `${answer}+${number}`)
}

/** The step with hostile answers of the kinds in turn, in groups of their own. */
export function addHostileAnswers(step: ItemCompletions[], count: number, number: number): ItemCompletions[] {
  return [...step, ...Array.from({ length: count }, (_, k) => makeHostileCompletion(number * count + k))]
}

/** One hostile answer a second, until the returned function is called. */
export function startHostileClient(server: OurServer): () => void {
  let sent = 0
  const timer = setInterval(() => {
    const { completions, scores: _, ...recipe } = makeHostileCompletion(sent++)
    const body = JSON.stringify({ rollouts: [{ recipe, completion: completions[0] }], extraction: 'last_tag' })
    void fetch(`${server.url}/score`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch(
      () => {},
    )
  }, 1000)
  return () => clearInterval(timer)
}
