/** Describes how to reach this server with OpenEnv's client, for `GET /adapters`. */
import type { AdapterDescription } from '@reasoning-gym-server/contract/adapter'
import type { ServerAddress } from '../catalogue.ts'

export function describeOpenenv({ url, urlWithKey }: ServerAddress): AdapterDescription {
  return {
    name: 'openenv',
    title: 'OpenEnv (TRL, verifiers, ms-swift, SkyRL, Unsloth notebooks)',
    summary:
      'An OpenEnv environment over WebSocket. A reset takes an item ID, a position in the run’s sequence, a task, or nothing; a step takes one completion.',
    paths: ['/openenv[/{run}]/ws', '/openenv[/{run}]/reset', '/openenv[/{run}]/step', '/openenv[/{run}]/schema'],
    client_file: null,
    unscored: 'An error frame with the code EXECUTION_ERROR, which the client raises. The episode stays open.',
    snippets: [
      {
        title: 'Answer items of a run',
        language: 'python',
        code: `from openenv import GenericEnvClient

async with GenericEnvClient(base_url="${url}/openenv/RUN", headers={"Authorization": "Bearer API_KEY"}) as env:
    result = await env.reset(position=0)  # all members of a group reset to the same position
    completion = generate(result.observation["question"])
    result = await env.step({"completion": completion})
    print(result.reward, result.done)`,
      },
      {
        title: 'The same without async; also for OpenEnv before 0.10',
        language: 'python',
        code: `from openenv import GenericEnvClient

with GenericEnvClient(base_url="${urlWithKey}/openenv/RUN").sync() as env:
    result = env.reset()  # the next item of the run
    result = env.step({"completion": generate(result.observation["question"])})`,
      },
      {
        title: 'The OpenEnv taskset of verifiers',
        language: 'toml',
        code: `[env.taskset]
id = "openenv"
base_url = "${urlWithKey}/openenv/RUN"
resets = [{ position = 0 }, { position = 1 }]`,
      },
    ],
  }
}
