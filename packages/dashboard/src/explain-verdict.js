/** Says in words why a completion has its score. */
import { acceptsOtherGrids } from './answer-grid.js'
import { formatDecimal, toSentence } from './format.js'

/** Explanations of format faults and error codes. */
const ERROR_EXPLANATIONS = {
  no_answer: 'There is no <answer> outside the reasoning.',
  many_answers: 'There is more than one <answer>, so it is unclear which one counts.',
  unclosed_answer: 'An <answer> tag is not closed.',
  unclosed_think: 'The <think> tag is not closed, so no answer after it counts.',
  answer_too_long: 'The answer exceeds the server’s length limit.',
  invalid_answer: 'The task’s scorer could not parse the answer.',
  scorer_timeout: 'The scorer exceeded its time limit. The rollout carries no training signal.',
  scorer_crashed: 'The scorer crashed. The rollout carries no training signal.',
  scorer_out_of_memory: 'The scorer ran out of memory. The rollout carries no training signal.',
  engine_unavailable: 'The engine was down. The rollout carries no training signal.',
  no_right_answer: 'No answer to this item is right. The rollout carries no training signal.',
  generation_failed: 'The model returned no completion. The rollout carries no training signal.',
}

/** Score from which an answer counts as right. */
const RIGHT_SCORE = 0.99

/** Tasks that check the answer itself: any valid solution is right, and the expected answer is one of them. */
const ANY_VALID_TASKS = new Set(
  'boxnet countdown graph_color jugs knight_swap letter_jumble palindrome_generation palindrome_partitioning polynomial_equations propositional_logic puzzle24 quantum_lock rubiks_cube rush_hour shortest_path simple_integration sokoban string_synthesis tower_of_hanoi tsumego word_ladder'.split(
    ' ',
  ),
)

export function acceptsAnyValid(task) {
  return acceptsOtherGrids(task) || ANY_VALID_TASKS.has(task)
}

/**
 * `right`, `paid`, `partial`, `wrong`, `unscored` or `missing`. Upstream scoring pays some answers in full that hardened scoring,
 * whose score is `hardened` if it is known, does not accept.
 */
export function classifyVerdict({ status, score, hardened }) {
  if (status === 'missing') return 'missing'
  if (status === 'unscored' || score === null || score === undefined) return 'unscored'
  if (score >= RIGHT_SCORE) return (hardened ?? 1) >= RIGHT_SCORE ? 'right' : 'paid'
  return score > 0.01 ? 'partial' : 'wrong'
}

/** The sentences that explain a verdict. Fields that are absent are unknown. */
export function explainVerdict({
  task,
  status,
  score,
  fault,
  code,
  detail,
  answer,
  expected,
  hardened,
  components,
  finish_reason,
  skipped,
  masked,
  feedback,
  turns = [],
}) {
  const sentences = []
  const kind = classifyVerdict({ status, score, hardened })
  if (kind === 'missing') sentences.push('There is no completion for this sample yet.')
  else if (kind === 'unscored') sentences.push(explainFailure(code, detail))
  else if (kind === 'paid')
    sentences.push(
      `Upstream scoring gives ${formatDecimal(score)}, and hardened scoring gives ${formatDecimal(hardened)}: the answer is paid, not right.`,
    )
  else if (fault) sentences.push(explainFault(fault, score, finish_reason))
  else sentences.push(explainScore({ kind, task, score, answer, expected }))
  if (kind !== 'missing' && finish_reason === 'length' && !fault)
    sentences.push('The completion was cut off at the token limit.')
  if (feedback && feedback.kind !== 'wrong') sentences.push(feedback.text)
  if (turns.length > 1) sentences.push(`Try ${turns.length} decided.`)
  for (const [k, turn] of turns.slice(0, -1).entries())
    if (turn.feedback && turn.feedback.kind !== 'wrong')
      sentences.push(`Feedback on try ${k + 1}: ${turn.feedback.text}`)
  const { length_penalty: forLength = 0, try_discount: forTries = 0 } = components ?? {}
  if (forLength < 0) sentences.push(`The length penalty takes ${formatDecimal(-forLength)} off the reward.`)
  if (forTries < 0) sentences.push(`The number of tries takes ${formatDecimal(-forTries)} off the reward.`)
  if (skipped) sentences.push('The rollout has too few trained tokens, so it is left out of the group.')
  if (masked) sentences.push('The rollout was cut off, so it carries no training signal.')
  return sentences.join(' ')
}

function explainFailure(code, detail) {
  const known = ERROR_EXPLANATIONS[code] ?? 'The server could not score this completion. It carries no training signal.'
  return detail ? `${known} ${toSentence(detail)}` : known
}

function explainFault(fault, score, finishReason) {
  const why = ERROR_EXPLANATIONS[fault] ?? `The format is wrong: ${fault}.`
  const cut = finishReason === 'length' ? ' The completion was cut off at the token limit.' : ''
  return `${why}${cut}${score >= RIGHT_SCORE ? ' The answer itself is right.' : ''}`
}

function explainScore({ kind, task, score, answer, expected }) {
  const isKnown = expected !== null && expected !== undefined
  const isOneOfMany = acceptsAnyValid(task)
  switch (kind) {
    case 'right':
      if (!isKnown || isEqual(answer, expected)) return 'The answer is correct.'
      return isOneOfMany
        ? 'The answer is correct: another valid solution than the expected one.'
        : 'The answer is correct, though written differently from the expected one.'
    case 'partial':
      return `The answer is partly correct: the task gives it ${formatDecimal(score)} of 1.`
    default:
      if (isOneOfMany)
        return 'The answer is not a valid solution. Other solutions than the expected one would be accepted.'
      if (isKnown && isEqual(answer, expected))
        return 'The answer reads like the expected one, but the task’s scorer does not accept its form.'
      return isKnown ? 'The answer differs from the expected one.' : 'The answer is wrong.'
  }
}

function isEqual(answer, expected) {
  return typeof answer === 'string' && answer.trim() === expected.trim()
}
