/** Adapters: routes and client files that let trainers use this server without code of their own. */
import { z } from 'zod'

/** In the order in which they are listed. */
export const AdapterName = z
  .enum([
    'dataset',
    'openrlhf',
    'slime',
    'nemo-gym',
    'openenv',
    'atropos',
    'ors',
    'mcp',
    'trl',
    'verl',
    'verifiers',
    'tinker',
    'skyrl',
    'areal',
    'swift',
    'inspect',
    'python',
  ])
  .meta({ id: 'AdapterName', description: 'An adapter, named after the trainer or protocol that it serves.' })
export type AdapterName = z.infer<typeof AdapterName>

/** Adapters whose routes speak a wire format that others define, which is also the tag of their operations. */
export const FOREIGN_WIRES = {
  openrlhf: 'Reward URL of OpenRLHF.',
  slime: 'Reward URL of slime and miles.',
} as const satisfies Partial<Record<AdapterName, string>>
