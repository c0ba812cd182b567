/** Looks up the item of a question on a server, with its answer, which requires the admin role. */
import { LRUCache } from 'lru-cache'
import { z } from 'zod'

/** The fields of an item that the model uses. */
export const KnownItem = z.object({
  id: z.string(),
  task: z.string(),
  difficulty: z.number().nullable(),
  answer: z.string().nullable(),
  metadata: z.unknown(),
})
export type KnownItem = z.infer<typeof KnownItem>

/** Returns the item whose question ends this text, or undefined if the server does not know it. */
export type ItemLookup = (text: string) => Promise<KnownItem | undefined>

const MAX_CACHED_ITEMS = 10_000
const LOOKUP_TIMEOUT_MS = 30_000

/** Sends one request per question and caches the result. Throws if the server is unreachable or rejects the key. */
export function createItemLookup(url: string, key?: string): ItemLookup {
  const remembered = new LRUCache<string, KnownItem>({ max: MAX_CACHED_ITEMS })
  return async (text) => {
    const known = remembered.get(text) ?? (await fetchKnownItem(url, key, text))
    if (known) remembered.set(text, known)
    return known
  }
}

async function fetchKnownItem(url: string, key: string | undefined, text: string): Promise<KnownItem | undefined> {
  const response = await fetch(`${url.replace(/\/$/, '')}/items/find`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ text }),
    signal: AbortSignal.timeout(LOOKUP_TIMEOUT_MS),
  })
  if (response.status === 404) return undefined
  const body: unknown = await response.json()
  if (response.ok) return KnownItem.parse(body)
  const { detail } = z
    .object({ detail: z.string() })
    .catch({ detail: `status ${response.status}` })
    .parse(body)
  throw new Error(`Cannot look up the answer on the server at ${url}: ${detail}`)
}
