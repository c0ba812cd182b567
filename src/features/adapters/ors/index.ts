/** Serves the environments of this server to openreward and TRL's OpenRewardSpec (the Open Reward Standard). */
import type { Platform } from '../../../platform/platform.ts'
import type { EvalsFeature } from '../../evals/index.ts'
import type { ItemsFeature } from '../../items/index.ts'
import type { RunsFeature } from '../../runs/index.ts'
import type { TasksFeature } from '../../tasks/index.ts'
import type { SampleScoring } from '../sample-scoring.ts'
import { OrsEnvironments } from './environments.ts'
import { OrsEpisodes, OrsSessions } from './episodes.ts'

interface OrsDeps {
  tasks: TasksFeature
  items: ItemsFeature
  runs: RunsFeature
  evals: EvalsFeature
  samples: SampleScoring
}

export interface OrsFeature {
  environments: OrsEnvironments
  episodes: OrsEpisodes
  sessions: OrsSessions
}

export function createOrs({ redis, keys }: Platform, deps: OrsDeps): OrsFeature {
  const { items } = deps.items
  const { runs, itemRequests } = deps.runs
  const sessions = new OrsSessions(redis, keys)
  return {
    sessions,
    environments: new OrsEnvironments({
      items,
      runs,
      itemRequests,
      suites: deps.evals.suites,
      catalog: deps.tasks.tasks,
    }),
    episodes: new OrsEpisodes({ items, runs, sessions, samples: deps.samples }),
  }
}
