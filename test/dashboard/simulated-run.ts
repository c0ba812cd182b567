/** A training run as its trainer would make it: items, completions of the mock model, batches, step after step. */
import { startMockModel } from '../../src/mock-model/mock-model.ts'

interface Item {
  id: string
  messages: object[]
}

interface Options {
  run: string
  steps: number
  groups: number
  groupSize: number
}

/** Resolves when the last batch is acknowledged. What the model can do grows a little with every step. */
export async function simulateRun(url: string, { run, steps, groups, groupSize }: Options): Promise<void> {
  for (let step = 0; step < steps; step++) {
    const part = step / Math.max(1, steps - 1)
    const model = await startMockModel({
      server: { url },
      seed: step,
      accuracy: 0.45 + 0.5 * part,
      accuracyAtHardest: 0.05 + 0.5 * part,
      formatFaults: 0.3 - 0.25 * part,
      truncations: 0.03,
      meanTokens: 40 + Math.round(80 * part),
    })
    try {
      const { items } = (await post(`${url}/items`, { run, count: groups })) as { items: Item[] }
      for (const item of items) await postGroup(url, { run, item, groupSize, step, model: model.url })
      const batch = await post(`${url}/runs/${run}/batches`, { step, final: true, policy_version: step }, 'wait=30')
      if (batch) await post(`${url}/runs/${run}/batches/${step}/ack`, {})
    } finally {
      await model.close()
    }
  }
}

async function postGroup(
  url: string,
  { run, item, groupSize, step, model }: { run: string; item: Item; groupSize: number; step: number; model: string },
): Promise<void> {
  const answer = (await post(`${model}/chat/completions`, { messages: item.messages, n: groupSize })) as {
    choices: { message: { content: string }; finish_reason: string }[]
  }
  const rollouts = answer.choices.map(({ message, finish_reason }) => ({
    completion: message.content,
    finish_reason,
    length_tokens: Math.ceil(message.content.length / 4),
    policy_version: Math.max(0, step - (groupSize % 3)),
  }))
  await post(`${url}/rollouts`, { run, item_id: item.id, rollouts }, 'wait=30')
}

async function post(url: string, body: object, prefer?: string): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(prefer !== undefined && { prefer }) },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`POST ${url}: ${answer.status} ${await answer.text()}`)
  return answer.status === 204 ? undefined : answer.json()
}
