/** Groups as trainers send them: right, wrong and unreadable completions, with tokens, masks and log-probabilities. */
import type { SeededRandom } from '../../support/seeded-random.ts'
import type { SoakClient } from '../soak-client.ts'

export const TRAINING_TASKS = [
  'leg_counting',
  'chain_sum',
  'spell_backward',
  'word_sorting',
  'codeio',
  'simple_integration',
]
const TOKEN_COUNT = 256

export interface ServedItem {
  id: string
  task: string
}

/** One group of each item. Only an admin may ask for the answers; here everybody is one. */
export async function buildGroups(client: SoakClient, random: SeededRandom, items: ServedItem[], size: number) {
  return Promise.all(
    items.map(async ({ id }) => {
      const { body } = await client.call('GET /items/{id}?reveal', 'GET', `/items/${id}?reveal=true`)
      return { item_id: id, rollouts: Array.from({ length: size }, (_, k) => buildRollout(random, body.answer, k)) }
    }),
  )
}

function buildRollout(random: SeededRandom, answer: string, k: number) {
  const thinking = `<think>${'step by step '.repeat(random.integerBelow(40))}</think>`
  const text = random.pick([`<answer>${answer}</answer>`, `<answer>${k}</answer>`, 'I give up'])
  const tokens = Array.from({ length: TOKEN_COUNT }, () => random.integerBelow(150_000))
  const sent = random.chance(0.5)
    ? { dtype: 'int32', data: Buffer.from(Int32Array.from(tokens).buffer).toString('base64') }
    : tokens
  return {
    completion: thinking + text,
    tokens: sent,
    masks: tokens.map((token, at) => (at < 16 ? -100 : token)),
    logprobs: tokens.map(() => -random.next()),
    finish_reason: 'stop',
  }
}
