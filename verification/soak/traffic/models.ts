/** Evals and collections on the mock model, and evals whose completions the caller brings. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Actor } from '../actor.ts'
import type { SoakClient } from '../soak-client.ts'
import { STEADY_RUN } from './steady-run.ts'

const SUITE = { tasks: ['leg_counting', 'gcd', 'codeio'], n: 3 }
const POLL_INTERVAL_MS = 500

export function createEvals(client: SoakClient, modelUrl: string): Actor {
  let previous: string | undefined
  return {
    name: 'evals',
    everyMs: 15_000,
    async round(k) {
      const model = { name: 'mock', base_url: modelUrl, api_key: 'of-the-mock-model' }
      const body = { model, suite: SUITE, samples_per_item: 2, concurrency: 4, step: k, labels: ['soak'] }
      const headers = { 'idempotency-key': `soak-eval-${k}` }
      const { body: started } = await client.call('POST /eval', 'POST', '/eval', { body, headers })
      const path = `/eval/${started.id}`
      if (k % 5 === 4) await client.call('DELETE /eval/{id}', 'DELETE', path)
      await client.call('GET …/events', 'GET', `${path}/events`)
      await client.call('GET …/samples', 'GET', `${path}/samples`)
      await client.call('GET …/report', 'GET', `${path}/report`)
      await client.call('GET /eval', 'GET', '/eval?label=soak&limit=20')
      if (previous !== undefined)
        await client.call('GET /eval/compare', 'GET', `/eval/compare?a=${previous}&b=${started.id}`)
      previous = started.id
    },
  }
}

export function createBroughtEvals(client: SoakClient): Actor {
  return {
    name: 'evals with completions of the caller',
    everyMs: 20_000,
    async round(k) {
      const { body: started } = await client.call('POST /eval', 'POST', '/eval', {
        body: { model: null, suite: SUITE },
      })
      const path = `/eval/${started.id}`
      const { body } = await client.call('GET …/items', 'GET', `${path}/items`)
      const all = body.items.map(({ sample_id }: { sample_id: string }) => ({
        sample_id,
        completion: `<answer>${k}</answer>`,
      }))
      const completions = all.slice(0, k % 2 === 0 ? all.length : 4)
      await client.call('POST …/completions', 'POST', `${path}/completions`, { body: { completions } })
      if (k % 2 === 1) await client.call('POST …/finish', 'POST', `${path}/finish`, { body: {} })
      await client.call('GET /eval/{id}', 'GET', path)
    },
  }
}

export function createCollections(client: SoakClient, modelUrl: string): Actor {
  return {
    name: 'collections',
    everyMs: 15_000,
    async round() {
      const body = { model: { name: 'mock', base_url: modelUrl }, groups: 2, concurrency: 2 }
      const path = `/runs/${STEADY_RUN}/collect`
      const { body: started } = await client.call('POST …/collect', 'POST', path, { body })
      for (let isOver = false; !isOver && !client.signal.aborted; ) {
        await sleep(POLL_INTERVAL_MS)
        const { body: view } = await client.call('GET …/collect/{id}', 'GET', `${path}/${started.id}`)
        isOver = !['queued', 'running'].includes(view.status)
      }
    },
  }
}
