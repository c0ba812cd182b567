/** Adapters: routes and client files that let trainers use this server without code of their own. */
import { z } from 'zod'
import { Count, NullableText } from './common.ts'

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

export const AdapterSnippet = z
  .strictObject({
    title: z.string().describe('What the snippet does, in a few words.'),
    language: z.enum(['sh', 'toml', 'yaml', 'python', 'json']).describe('Language of the code, for highlighting.'),
    code: z
      .string()
      .describe('Text to paste, with the address of this server filled in and placeholders for the rest.'),
  })
  .meta({ id: 'AdapterSnippet', description: 'Text to paste into the configuration of a trainer.' })
export type AdapterSnippet = z.infer<typeof AdapterSnippet>

export const AdapterDescription = z
  .strictObject({
    name: AdapterName,
    title: z.string().describe('Trainers that use the adapter.'),
    summary: z.string().describe('What the adapter offers, in one or two sentences.'),
    paths: z
      .array(z.string())
      .describe('Routes of this server that the trainer calls. `[/{run}]`: the run is optional.'),
    client_file: NullableText.describe(
      'File or folder that the trainer loads, relative to `clients/python`; null if the trainer needs no code.',
    ),
    unscored: z.string().describe('What the trainer receives for a completion that could not be scored.'),
    snippets: z.array(AdapterSnippet).describe('How to configure the trainer against this server.'),
  })
  .meta({ id: 'AdapterDescription', description: 'One adapter and how to configure its trainer.' })
export type AdapterDescription = z.infer<typeof AdapterDescription>

/** Use of an adapter on all nodes, since the data in Redis began. */
export const AdapterUse = z
  .strictObject({
    samples: Count.describe('Completions received; for `dataset` rows sent.'),
    unscored: Count.describe('Completions among them that could not be scored.'),
    last_used: z.iso
      .datetime()
      .nullable()
      .describe('Time of the latest call, ISO 8601; null if the adapter was never used.'),
    last_run: NullableText.describe(
      'Run of the latest call; null if it named none, or one that the caller may not see.',
    ),
  })
  .meta({ id: 'AdapterUse', description: 'How much an adapter has been used.' })
export type AdapterUse = z.infer<typeof AdapterUse>

export const AdapterView = z
  .strictObject({ ...AdapterDescription.shape, usage: AdapterUse })
  .meta({ id: 'AdapterView', description: 'An adapter, how to configure its trainer, and how much it has been used.' })
export type AdapterView = z.infer<typeof AdapterView>
