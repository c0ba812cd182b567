/** Lists the adapters in the order in which they are shown. */
import type { AdapterDescription } from '@reasoning-gym-server/contract/adapter'
import { describeAtropos } from './atropos/describe.ts'
import { describeDataset } from './dataset/description.ts'
import { describeMcp } from './mcp-routes.ts'
import { describeNemoGym } from './nemo-gym/describe.ts'
import { describeOpenenv } from './openenv/description.ts'
import { describeOpenrlhf } from './openrlhf/index.ts'
import { describeOrs } from './ors/describe.ts'
import {
  describeAreal,
  describeInspect,
  describePython,
  describeSkyrl,
  describeSwift,
  describeTinker,
  describeTrl,
  describeVerifiers,
  describeVerl,
} from './python-files.ts'
import { describeSlime } from './slime.ts'

/** Address at which a client reaches this server, for the snippets. */
export interface ServerAddress {
  /** `http://HOST:PORT`, as the client reached it. */
  url: string
  /** `url` with a placeholder for the key, for trainers that take only a URL: `http://trainer:API_KEY@HOST:PORT`. */
  urlWithKey: string
  /** Host and port. */
  host: string
}

export type DescribeAdapter = (address: ServerAddress) => AdapterDescription

/** Descriptions of all adapters; each adapter's file exports its own. */
export const ADAPTERS: readonly DescribeAdapter[] = [
  describeDataset,
  describeOpenrlhf,
  describeSlime,
  describeNemoGym,
  describeOpenenv,
  describeAtropos,
  describeOrs,
  describeMcp,
  describeTrl,
  describeVerl,
  describeVerifiers,
  describeTinker,
  describeSkyrl,
  describeAreal,
  describeSwift,
  describeInspect,
  describePython,
]
