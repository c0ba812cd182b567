/** `tasks`: the list of tasks, and the details of one. */

import { Command } from 'commander'
import { z } from 'zod'
import { type ApiClient, addServerOptions, type ServerOptions, withServer } from './api-client.ts'
import { formatHelpFooter } from './help.ts'
import { printJson, printLine } from './output.ts'
import { formatTable } from './table.ts'

interface TasksOptions extends ServerOptions {
  category?: string
  query?: string
  json?: true
}

const TaskListResponse = z.looseObject({
  tasks: z.array(
    z.looseObject({ name: z.string(), category: z.string(), credit: z.string(), scorer: z.string(), rungs: z.int() }),
  ),
})

const CardResponse = z
  .looseObject({
    guess_floor: z.looseObject({ hardened: z.number() }),
    lookup_floor: z.looseObject({ hardened: z.number() }),
    distinct_in_1000: z.number(),
  })
  .nullable()

const TaskResponse = z.looseObject({
  name: z.string(),
  category: z.string(),
  credit: z.string(),
  config_schema: z
    .looseObject({ properties: z.record(z.string(), z.looseObject({ default: z.unknown() })).default({}) })
    .nullable(),
  ladder: z.array(z.object({ difficulty: z.number(), config: z.record(z.string(), z.unknown()) })),
  card: z.looseObject({ defaults: CardResponse, rungs: z.array(CardResponse) }),
  example: z.looseObject({ question: z.string() }).nullable(),
})

export function buildTasksCommand(): Command {
  return addServerOptions(
    new Command('tasks')
      .description(
        'List all tasks, or show one task: an example, the fields of its config with their defaults, and its difficulty ladder.',
      )
      .argument('[task]', 'name of the task to show; omit it to list all tasks')
      .option('--category <name>', 'list only the tasks of this category')
      .option('-q, --query <text>', 'list only tasks whose name or category contains this text')
      .option('--json', 'print the server’s JSON response')
      .addHelpText(
        'after',
        formatHelpFooter({
          examples: [
            'reasoning-gym-server tasks --category games',
            'reasoning-gym-server tasks leg_counting',
            "reasoning-gym-server tasks --json | jq -r '.tasks[].name'",
          ],
        }),
      )
      .action((task: string | undefined, options: TasksOptions) =>
        withServer(options, {}, (server) =>
          task === undefined ? printTaskList(server, options) : printTask(server, task, options),
        ),
      ),
  )
}

async function printTaskList(server: ApiClient, { category, query, json }: TasksOptions): Promise<void> {
  const search = new URLSearchParams({ ...(category && { category }), ...(query && { q: query }) })
  const answer = await server.call(TaskListResponse, 'GET', `/tasks?${search.toString()}`)
  if (json) return printJson(answer)
  const rows = answer.tasks.map(({ name, category, credit, scorer, rungs }) => [name, category, credit, scorer, rungs])
  await printLine(formatTable(['task', 'category', 'credit', 'scorer', 'rungs'], rows))
  await printLine(`\n${rows.length} tasks`)
}

async function printTask(server: ApiClient, name: string, { json }: TasksOptions): Promise<void> {
  const task = await server.call(TaskResponse, 'GET', `/tasks/${encodeURIComponent(name)}`)
  if (json) return printJson(task)
  await printLine(`${task.name} (${task.category}, ${task.credit} credit)\n`)
  if (task.example) await printLine(`${indent(task.example.question)}\n`)
  const fields = Object.entries(task.config_schema?.properties ?? {})
  await printLine(
    formatTable(
      ['config field', 'default'],
      fields.map(([field, schema]) => [field, JSON.stringify(schema.default)]),
    ),
  )
  const defaults = ['defaults', ...formatCard(task.card.defaults), '']
  const rungs = task.ladder.map(({ difficulty, config }, k) => [
    difficulty.toFixed(2),
    ...formatCard(task.card.rungs[k] ?? null),
    JSON.stringify(config),
  ])
  const heads = ['difficulty', 'guess floor', 'lookup floor', 'distinct in 1,000', 'config']
  await printLine(`\n${formatTable(heads, [defaults, ...rungs])}`)
}

/** The rewards that guessing and looking up earn with hardened scoring, and the number of distinct items among 1,000. */
function formatCard(card: z.infer<typeof CardResponse>): string[] {
  if (card === null) return ['', '', '']
  return [card.guess_floor.hardened.toFixed(2), card.lookup_floor.hardened.toFixed(2), String(card.distinct_in_1000)]
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '    ')
}
