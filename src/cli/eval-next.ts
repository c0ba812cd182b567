/** What usually comes after an eval: a look at its page, and the comparison with the one before. */
import { z } from 'zod'
import type { ApiClient } from './api-client.ts'
import type { EvalResponse } from './eval-tables.ts'
import { printNext } from './output.ts'

const EvalListResponse = z.object({ evals: z.array(z.object({ id: z.string(), status: z.string() })) })

export async function printNextOfEval(server: ApiClient, { id, status, suite }: EvalResponse): Promise<void> {
  printNext(server, { page: `/evals/${id}`, next: await suggestCommand(server, { id, status, suite: suite.name }) })
}

async function suggestCommand(
  server: ApiClient,
  { id, status, suite }: { id: string; status: string; suite: string },
): Promise<string> {
  if (status === 'cancelled' || status === 'failed') return `reasoning-gym-server eval --resume ${id}`
  const query = new URLSearchParams({ suite }).toString()
  const { evals } = await server.call(EvalListResponse, 'GET', `/eval?${query}`).catch(() => ({ evals: [] }))
  const other = evals.find((candidate) => candidate.id !== id && candidate.status === 'done')
  return other && status === 'done'
    ? `reasoning-gym-server eval compare ${id} ${other.id}`
    : `reasoning-gym-server eval report ${id} > report.html`
}
