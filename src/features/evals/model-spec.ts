/**
 * Describes the model of a generation job: where the server calls it, with which parameters and how many requests at
 * once.
 */

import type { CollectionInput } from '@reasoning-gym-server/contract/collection'
import type { ModelInput } from '@reasoning-gym-server/contract/eval'
import { z } from 'zod'
import { EgressPolicy } from './model-client/egress-policy.ts'
import { assertModelUrlAllowed } from './model-client/guarded-fetch.ts'
import { GenerationParams } from './model-client/model-client.ts'

export const ModelSpec = z.strictObject({
  name: z.string(),
  base_url: z.string(),
  /** Policy stored with the job: every node applies the policy of the node that accepted it. */
  egress_policy: EgressPolicy,
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
