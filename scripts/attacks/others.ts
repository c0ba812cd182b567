/** What everybody else notices: how long ordinary requests take, with nothing going on and under attack. */

const JSON_HEADERS = { 'content-type': 'application/json' }

export interface LatencySummary {
  kind: string
  p50: number
  p99: number
  count: number
}

interface OrdinaryRequest {
  kind: string
  path: string
  body: (k: number) => unknown
  headers?: Record<string, string>
}

const createRecipe = (task: string) => ({ task, seed: 42 })

const ORDINARY_REQUESTS: OrdinaryRequest[] = [
  {
    kind: 'POST /score, native rule',
    path: '/score',
    body: (k) => ({ rollouts: [{ recipe: createRecipe('leg_counting'), answer: String(k) }] }),
  },
  {
    kind: 'POST /score, Python host',
    path: '/score',
    body: (k) => ({ rollouts: [{ recipe: createRecipe('codeio'), answer: `{"a": ${k}}` }] }),
  },
  {
    kind: 'POST /score, the attacked task',
    path: '/score',
    body: (k) => ({ rollouts: [{ recipe: createRecipe('simple_integration'), answer: `x**${k % 9}` }] }),
  },
  { kind: 'POST /items', path: '/items', body: (k) => ({ task: 'gcd', seed: k }) },
]

/** Asks of each kind one after another, until `until` settles. */
export async function measureOrdinaryRequests(url: string, until: Promise<unknown>): Promise<LatencySummary[]> {
  let over = false
  void until.finally(() => {
    over = true
  })
  return Promise.all(
    ORDINARY_REQUESTS.map(async ({ kind, path, body, headers }) => {
      const waits: number[] = []
      for (let k = 0; !over; k++) {
        const started = performance.now()
        const init = { method: 'POST', headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(body(k)) }
        const response = await fetch(url + path, init)
        await response.arrayBuffer()
        waits.push(performance.now() - started)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      waits.sort((a, b) => a - b)
      const at = (share: number) => waits[Math.floor(waits.length * share)] ?? 0
      return { kind, p50: at(0.5), p99: at(0.99), count: waits.length }
    }),
  )
}
