/**
 * Describes the model of a generation job: where the server calls it, with which parameters and key, and how many
 * requests at once.
 */

import type { CollectionInput } from '@reasoning-gym-server/contract/collection'
import type { ModelInput } from '@reasoning-gym-server/contract/generation-job'
import { z } from 'zod'
import { assertModelUrlAllowed, EgressPolicy } from './egress-policy.ts'

export const GenerationParams = z.strictObject({
  /** Sampling temperature; null to send none. */
  temperature: z.number().nullable(),
  max_tokens: z.int().optional(),
  top_p: z.number().optional(),
  /** Fields that are merged into the body of each request. */
  request: z.record(z.string(), z.unknown()).optional(),
  /** Seed; sample k of an item is requested with seed + k. */
  seed: z.int().optional(),
  timeout_s: z.number(),
  retries: z.int(),
})
export type GenerationParams = z.infer<typeof GenerationParams>

export const ModelSpec = z.strictObject({
  name: z.string(),
  base_url: z.string(),
  /** Policy stored with the job: every node applies the policy of the node that accepted it. */
  egress_policy: EgressPolicy,
  /** Whether failures say neither what the host replied nor how the connection failed: unless an admin created the job. */
  hides_replies: z.boolean().optional(),
  params: GenerationParams,
  concurrency: z.int(),
})
export type ModelSpec = z.infer<typeof ModelSpec>

type ModelRequestInput = Pick<
  CollectionInput,
  'max_tokens' | 'top_p' | 'request' | 'seed' | 'timeout_s' | 'retries' | 'concurrency'
> & { temperature: number | null }

/** Builds the spec. Throws `invalid_request` if the policy forbids the model's address. */
export async function buildModelSpec(
  { name, base_url }: ModelInput,
  input: ModelRequestInput,
  egress_policy: EgressPolicy,
): Promise<ModelSpec> {
  await assertModelUrlAllowed(base_url, egress_policy)
  const { concurrency, temperature, max_tokens, top_p, request, seed, timeout_s, retries } = input
  const params = { temperature, max_tokens, top_p, request, seed, timeout_s, retries }
  return { name, base_url, egress_policy, params, concurrency }
}
