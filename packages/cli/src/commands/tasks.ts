/** `tasks`: the list of tasks, and the details of one. */

import { type TaskCard, TaskDetail, TaskList } from '@reasoning-gym-server/contract/task'
import type { Command } from 'commander'
import { z } from 'zod'
import type { ApiClient } from '../api-client.ts'
import { CliError } from '../cli-error.ts'
import { CliCommand } from '../command.ts'
import { heading, muted, paint, printJson, printLine, printNext, printStatus } from '../output.ts'
import { formatSetting } from '../run-tables.ts'
import { dropEmptyColumns, formatTable, type TableCell } from '../table.ts'
import type { WithServer } from '../with-server.ts'

interface TasksOptions {
  category?: string
  query?: string
  json?: true
}

/** What the command shows of the JSON Schema of a config. */
const ConfigSchema = z
  .object({ properties: z.record(z.string(), z.object({ default: z.unknown() })) })
  .catch({ properties: {} })

export function buildTasksCommand(withServer: WithServer): Command {
  return new CliCommand('tasks')
    .description(
      'List all tasks, or show one task: an example, the fields of its config with their defaults, and its difficulty ladder.',
    )
    .argument('[task]', 'name of the task to show; omit it to list all tasks')
    .option('--category <name>', 'list only the tasks of this category')
    .option('-q, --query <text>', 'list only tasks whose name or category contains this text')
    .option('--json', 'print the server’s JSON response')
    .examples([
      'reasoning-gym-server tasks --category games',
      'reasoning-gym-server tasks leg_counting',
      "reasoning-gym-server tasks --json | jq -r '.tasks[].name'",
    ])
    .callServer(
      withServer,
      (server, task: string | undefined, options: TasksOptions) =>
        task === undefined ? printTaskList(server, options) : printTask(server, task, options),
      { keeps: false },
    )
}

async function printTaskList(server: ApiClient, { category, query, json }: TasksOptions): Promise<void> {
  const search = new URLSearchParams({ ...(category && { category }), ...(query && { q: query }) })
  const answer = await server.call(TaskList, 'GET', `/tasks?${search.toString()}`)
  if (json) return printJson(answer)
  for (const problem of answer.problems) printStatus(paint(problem, 'warn', process.stderr))
  if (answer.tasks.length === 0)
    throw new CliError('No task matches. Run "reasoning-gym-server tasks" to list tasks and categories', {
      exitCode: 2,
    })
  const head = ['task', 'category', 'rungs', 'credit', 'description', 'public benchmark']
  const rows = answer.tasks.map(({ name, category, rungs, credit, description, public_benchmark }): TableCell[] => [
    name,
    category,
    rungs,
    credit,
    description ?? '',
    public_benchmark ?? '',
  ])
  await printLine(formatTable(...dropEmptyColumns(head, rows)))
  printStatus(`\n${rows.length} ${rows.length === 1 ? 'task' : 'tasks'}`)
  printNext(server, { page: '/tasks', next: `reasoning-gym-server tasks ${answer.tasks[0]?.name}` })
}

async function printTask(server: ApiClient, name: string, { json }: TasksOptions): Promise<void> {
  const task = await server.call(TaskDetail, 'GET', `/tasks/${encodeURIComponent(name)}`)
  if (json) return printJson(task)
  await printLine(`${heading(task.name)}  ${muted(`${task.category}, ${task.credit} credit`)}`)
  if (task.description) await printLine(task.description)
  if (task.shortcut) await printLine(paint(`Shortcut: ${task.shortcut}`, 'warn'))
  if (task.example) await printLine(`\n${indent(task.example.question)}`)
  const fields = Object.entries(ConfigSchema.parse(task.config_schema).properties)
  if (fields.length > 0)
    await printLine(
      `\n${formatTable(
        ['config field', 'default'],
        fields.map(([field, schema]) => [field, formatSetting(schema.default)]),
      )}`,
    )
  await printLine(`\n${formatLadder(task)}`)
  printNext(server, { page: `/tasks/${name}`, next: `reasoning-gym-server item ${name} --difficulty 0.5 --reveal` })
}

/** The rungs of the ladder, each with the config fields that it changes, after a row for the defaults of the library. */
function formatLadder({ ladder, card }: TaskDetail): string {
  const rows: TableCell[][] = ladder.map(({ difficulty, config }, k) => [
    difficulty.toFixed(2),
    ...formatCard(card.rungs[k] ?? null),
    formatChanges(config, ladder[k - 1]?.config ?? {}),
  ])
  return formatTable(
    ['difficulty', 'guess floor', 'lookup floor', 'distinct in 1,000', 'config changes'],
    [['default', ...formatCard(card.defaults), ''], ...rows],
  )
}

function formatChanges(config: Record<string, unknown>, before: Record<string, unknown>): string {
  return Object.entries(config)
    .map(([name, value]) => [name, formatSetting(value)])
    .filter(([name = '', value]) => !(name in before) || formatSetting(before[name]) !== value)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')
}

/** The rewards that guessing and looking up earn with hardened scoring, and the number of distinct items among 1,000. */
function formatCard(card: TaskCard | null): string[] {
  if (card === null) return ['–', '–', '–']
  return [card.guess_floor.hardened.toFixed(2), card.lookup_floor.hardened.toFixed(2), String(card.distinct_in_1000)]
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '    ')
}
