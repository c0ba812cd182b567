/** What a second opinion says about one item, next to what the scorers pay. */
import type { KeyFaults } from '@reasoning-gym-server/contract/task'
import type { HardenedItem } from '../../src/grading/hardened-item.ts'
import type { SecondOpinion } from './second-opinion.ts'

interface FindingKind {
  about: string
  /** Of the library's item and scores, or of what hardened scoring and the note of the item leave. */
  scoring: 'upstream' | 'hardened'
  /** As `GET /tasks/{task}` names it. */
  fault: keyof KeyFaults
}

const upstream = (fault: keyof KeyFaults, about: string): FindingKind => ({ about, scoring: 'upstream', fault })
const hardened = (fault: keyof KeyFaults, about: string): FindingKind => ({ about, scoring: 'hardened', fault })

export const FINDINGS = {
  wrong_key: upstream('wrong_key', 'the key is not the answer'),
  several_readings: upstream('several_readings', 'the question has several answers, each of another reading'),
  impossible: upstream('no_right_answer', 'no answer is right'),
  solved_at_start: upstream('no_right_answer', 'the question asks for what is so already'),
  upstream_unpaid: upstream('right_unpaid', 'upstream does not pay a right answer in full'),
  upstream_wrong_paid: upstream('wrong_paid', 'upstream pays a wrong answer in full'),
  wrong_key_paid: hardened('wrong_key', 'hardened scoring pays the wrong key in full'),
  unsettled: hardened('several_readings', 'the note does not settle the reading, or there is none'),
  needless_note: hardened('several_readings', 'there is a note, though the question has one reading'),
  handed_out: hardened('no_right_answer', 'an item without a right answer, or solved at the start, is handed out'),
  unpaid: hardened('right_unpaid', 'hardened scoring does not pay a right answer in full'),
  wrong_paid: hardened('wrong_paid', 'hardened scoring pays a wrong answer in full'),
} as const satisfies Record<string, FindingKind>
export type Finding = keyof typeof FINDINGS

export interface Found {
  finding: Finding
  /** The answer or the note, where one shows it. */
  detail: string
}

const isFull = (score: number | undefined) => score !== undefined && score >= 1 - 1e-6

export async function findFaults(item: HardenedItem, opinion: SecondOpinion): Promise<Found[]> {
  const found: Found[] = []
  const note = (finding: Finding, detail = '') => void found.push({ finding, detail })
  const key = item.entry.answer
  const plain = await opinion.ask(item.question, key)
  const { clarification } = item
  const settled = clarification === null ? plain : await opinion.ask(`${item.question}\n\n${clarification}`, key)
  const isImpossible = plain.answers === null
  const hasReadings = (plain.answers?.length ?? 0) > 1
  if (isImpossible) note('impossible')
  if (plain.solved_at_start) note('solved_at_start')
  if (hasReadings) note('several_readings', plain.answers?.join(' | '))
  if (plain.key_is_right === false && !isImpossible)
    note('wrong_key', `${key} instead of ${plain.answers?.join(' | ')}`)
  if (item.isAnswerable && hasReadings && settled.answers?.length !== 1) note('unsettled', clarification ?? 'no note')
  if (!hasReadings && clarification !== null && plain.answers?.length === 1) note('needless_note', clarification)
  const isStruck = isImpossible || plain.solved_at_start
  if (isStruck && item.isAnswerable) note('handed_out')
  if (!item.isAnswerable) return found
  const right = [...(settled.answers ?? []), ...settled.others]
  if (settled.key_is_right === true && key !== null) right.push(key)
  const wrong = settled.wrong.filter(([, answer]) => !right.includes(answer))
  if (key !== null && settled.key_is_right === false && isFull((await item.score([key]))[0]))
    note('wrong_key_paid', key)
  const texts = [...right, ...wrong.map(([, answer]) => answer)]
  const [upstream, hardened] = [await item.scoreUpstream(texts), await item.score(texts)]
  for (const [k, answer] of right.entries()) {
    if (!isFull(upstream[k])) note('upstream_unpaid', `${upstream[k]} for ${answer}`)
    if (!isFull(hardened[k])) note('unpaid', `${hardened[k]} for ${answer}`)
  }
  for (const [k, [rule, answer]] of wrong.entries()) {
    if (isFull(upstream[right.length + k])) note('upstream_wrong_paid', `${rule}: ${answer}`)
    if (isFull(hardened[right.length + k])) note('wrong_paid', `${rule}: ${answer}`)
  }
  return found
}
