/** `runs groups`: lists the groups of a run that the server keeps, and reads one of them. */
import { RetainedGroup, RetainedGroupPage } from '@reasoning-gym-server/contract/retained-group'
import { isCorrect, isPaidNotRight } from '@reasoning-gym-server/contract/verdict'
import { CliCommand } from '../command.ts'
import { integerParser } from '../options.ts'
import { heading, muted, paint, printJson, printLine, printStatus } from '../output.ts'
import { formatTable, type TableCell } from '../table.ts'
import type { ServerOptions, WithServer } from '../with-server.ts'

interface GroupsOptions extends ServerOptions {
  worst?: true
  best?: true
  task?: string
  search?: string
  limit: number
  json?: true
}

export function buildRunGroupsCommand(withServer: WithServer): CliCommand {
  return new CliCommand('groups')
    .summary('List the groups of a run, or read one')
    .description(
      'List the groups of a run that the server keeps (keep_groups), newest first. With the ID of a group, show its answers and completions.',
    )
    .argument('<run>', 'name of the run')
    .argument('[group]', 'ID of the group to read')
    .option('--worst', 'list the lowest mean rewards first')
    .option('--best', 'list the highest mean rewards first')
    .option('--task <name>', 'list groups of this task only')
    .option('--search <text>', 'list only groups with this text in a completion')
    .option('--limit <count>', 'number of groups to list, up to 200', integerParser(1), 20)
    .option('--json', 'print the server’s JSON response')
    .examples(['reasoning-gym-server runs groups first --worst', 'reasoning-gym-server runs groups first 5c0a'])
    .callServer(withServer, async (server, run: string, id: string | undefined, options: GroupsOptions) => {
      const path = `/runs/${encodeURIComponent(run)}/groups`
      if (id !== undefined) {
        const group = await server.call(RetainedGroup, 'GET', `${path}/${encodeURIComponent(id)}`)
        return options.json ? printJson(group) : printGroup(group)
      }
      const { worst, best, task, search, limit, json } = options
      const query = new URLSearchParams({
        sort: worst ? 'worst' : best ? 'best' : 'newest',
        limit: String(limit),
        hardened: 'true',
        ...(task !== undefined && { task }),
        ...(search !== undefined && { q: search }),
      })
      const page = await server.call(RetainedGroupPage, 'GET', `${path}?${query.toString()}`)
      if (json) return printJson(page)
      if (page.groups.length > 0) await printLine(formatTable(HEAD, page.groups.map(formatRow)))
      printStatus(`Groups: ${page.groups.length} of the ${page.searched} searched; the server keeps ${page.kept}`)
    })
}

const HEAD = ['group', 'mean reward', 'task', 'step', 'right', 'destination', 'most common answer']

function formatRow(group: RetainedGroup): TableCell[] {
  const { verdicts = [], hardened_scores: hardened = [], common_answer: common } = group
  const right = verdicts.filter(({ score }) => score !== null && isCorrect(score)).length
  return [
    group.group_id,
    group.mean_reward?.toFixed(3),
    group.task,
    group.policy_version,
    verdicts.some(({ score }, k) => isPaidNotRight(score, hardened[k]))
      ? { text: `${right}/${verdicts.length}, paid, not right`, tone: 'bad' }
      : `${right}/${verdicts.length}`,
    (group.destination ?? group.status).replaceAll('_', ' '),
    common ? `${common.count} × ${common.text}` : undefined,
  ]
}

async function printGroup(group: RetainedGroup): Promise<void> {
  const { group_id, task, item_id, mean_reward, verdicts = [], completions, expected, hardened_scores } = group
  await printLine(`${heading(group_id)}  ${task}, mean reward ${mean_reward?.toFixed(3) ?? '–'}, item ${item_id}`)
  if (typeof expected === 'string') await printLine(`${muted('expected')}  ${expected}`)
  for (const [k, verdict] of verdicts.entries()) {
    const isRight = verdict.score !== null && isCorrect(verdict.score)
    const fault = verdict.status === 'scored' ? verdict.fault : verdict.code
    const isPaid = isPaidNotRight(verdict.score, hardened_scores?.[k])
    const notes = [fault?.replaceAll('_', ' '), isPaid && 'paid, not right'].filter(Boolean)
    await printLine(
      `\n${heading(`Rollout ${k + 1}`)}  ${paint(verdict.reward?.toFixed(3) ?? '–', isRight ? 'good' : 'bad')}  ${notes.join(', ')}`,
    )
    await printLine(completions?.[k]?.text ?? muted('The server no longer stores this text.'))
  }
}
