/** The rungs of the tasks of a run that its model solves with a probability in a band, as `complexity_mode: "frontier"` estimates it. */
import { Run } from '@reasoning-gym-server/contract/run'
import { TaskDetail } from '@reasoning-gym-server/contract/task'
import { InvalidArgumentError } from 'commander'
import type { ApiClient } from './api-client.ts'
import { CliError } from './cli-error.ts'

export type Band = [low: number, high: number]

export function parseBand(text: string): Band {
  const [, low, high] = /^([\d.]+)-([\d.]+)$/.exec(text)?.map(Number) ?? []
  if (low === undefined || high === undefined || !(low >= 0 && low < high && high <= 1))
    throw new InvalidArgumentError('must be two probabilities, such as 0.2-0.8')
  return [low, high]
}

export async function findRungsInBand(
  server: ApiClient,
  name: string,
  [low, high]: Band,
): Promise<{ task: string; recipe: { difficulty: number } }[]> {
  const run = await server.call(Run, 'GET', `/runs/${encodeURIComponent(name)}`)
  const scoring = run.settings.scoring === 'hardened' ? 'hardened' : 'upstream'
  const found: { task: string; recipe: { difficulty: number } }[] = []
  for (const [task, { place, slope, cap, floor }] of Object.entries(run.tasks)) {
    if (place === null || slope === null || cap === null || floor === null) continue
    const { ladder, card } = await server.call(TaskDetail, 'GET', `/tasks/${encodeURIComponent(task)}`)
    for (const [k, { difficulty }] of ladder.entries()) {
      const guessed = card.rungs[k]?.guess_floor[scoring] ?? floor
      const solved = 1 / (1 + Math.exp(-slope * (place - difficulty)))
      const success = cap * (guessed + (1 - guessed) * solved)
      if (success >= low && success <= high) found.push({ task, recipe: { difficulty } })
    }
  }
  if (found.length === 0)
    throw new CliError(
      `Run ${name} has no rung with an estimated success from ${low} to ${high}. Only complexity_mode frontier estimates it, once groups have counted`,
    )
  return found
}
