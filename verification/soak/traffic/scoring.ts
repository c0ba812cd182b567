/** Items by recipe and scoring without keeping, of all tasks; the same recipe comes again now and then, some under an idempotency key. */

import { buildExploits } from '../../../src/features/tasks/check/attacks.ts'
import { TASK_NAMES } from '../../../src/features/tasks/task-catalog.ts'
import type { CreateActor } from '../actor.ts'

export const createScoring: CreateActor = (client, random) => ({
  name: 'scoring',
  everyMs: 250,
  async round(k) {
    const recipe = { task: random.pick(TASK_NAMES), seed: random.integerBelow(50) }
    const headers: Record<string, string> = k % 8 === 0 ? { 'idempotency-key': `soak-${k}` } : {}
    const { status, body } = await client.call('POST /items by recipe', 'POST', '/items', { body: recipe, headers })
    if (status !== 200) return
    const rollouts = ['1', 'yes', '[1, 2]', ''].map((text) => ({
      item_id: body.items[0].id,
      completion: `<answer>${text}</answer>`,
    }))
    await client.call('POST /score', 'POST', '/score', { body: { rollouts } })
  },
})

/** Answers that would hang, fill memory or run, were they read the way the library reads them. */
export const createHostileAnswers: CreateActor = (client, random) => {
  const exploits = buildExploits('/tmp/rgs-soak-marker', 9)
  return {
    name: 'hostile answers',
    everyMs: 2_500,
    async round() {
      const recipe = { task: random.pick(TASK_NAMES), seed: 7 }
      const { text } = random.pick(exploits)
      const body = {
        rollouts: [
          { recipe, answer: text },
          { recipe, completion: `<answer>${text}</answer>` },
        ],
      }
      await client.call('POST /score, hostile', 'POST', '/score', { body })
    },
  }
}
