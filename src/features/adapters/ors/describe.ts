/** Describes how to configure openreward and TRL's OpenRewardSpec for this server. */
import type { AdapterDescription } from '@reasoning-gym-server/contract/adapter'
import type { ServerAddress } from '../catalogue.ts'

/** The client accepts no path prefix, so ORS has a port of its own, which only the process knows. */
export function describeOrs({ url }: ServerAddress): AdapterDescription {
  const ors = url.replace(/:\d+$/, '').concat(':ORS_PORT')
  return {
    name: 'ors',
    title: 'openreward, TRL’s OpenRewardSpec, ROLL (ORS)',
    summary:
      'Environments of the Open Reward Standard (ORS): one for each run, and one without a run. Set ORS_PORT to serve them at the root of that port.',
    paths: ['ORS_PORT: /{run}/{tools,splits,num_tasks,tasks,task_range,task,prompt,messages,call,score_group}'],
    client_file: null,
    unscored: 'No reward (null), which TRL does not train on; in score_group, the mean of the scored completions.',
    snippets: [
      { title: 'Start the server with a port for ORS', language: 'sh', code: 'ORS_PORT=8080 npm start' },
      {
        title: 'TRL',
        language: 'python',
        code: `import os

os.environ["OPENREWARD_API_URL"] = os.environ["OPENREWARD_SESSION_URL"] = "${ors}"

from trl.experimental.openreward import OpenRewardSpec  # after the variables are set

spec = OpenRewardSpec("${ors}", env_name="RUN", api_key="API_KEY", num_tasks=10_000)
GRPOTrainer(…, train_dataset=spec.train_dataset, environment_factory=spec.environment_factory, reward_funcs=spec.reward_funcs)`,
      },
      {
        title: 'openreward',
        language: 'python',
        code: `environment = OpenReward(api_key="API_KEY", base_url="${ors}").environments.get("RUN")
with environment.session(split="train", index=0) as session:
    prompt = session.get_prompt()[0].text
    reward = session.call_tool("submit_answer", {"answer": "42"}).reward`,
      },
    ],
  }
}
