/** The lists of what a server has, for suggestions and for completion. */
import { z } from 'zod'
import type { ApiClient } from './api-client.ts'

const Entries = z.array(z.record(z.string(), z.unknown()))

/** The entries of a list, such as `tasks` of `GET /tasks`; undefined if the server does not answer with one. */
export async function listEntries(
  server: ApiClient,
  path: string,
  list: string,
  signal?: AbortSignal,
): Promise<z.infer<typeof Entries> | undefined> {
  const answer = await server
    .call(z.record(z.string(), z.unknown()), 'GET', path, undefined, signal)
    .catch(() => undefined)
  return Entries.safeParse(answer?.[list]).data
}
