/** `tasks`: what there is, and one task in full. */
import { Command } from 'commander'
import { z } from 'zod'
import { examples } from './options.ts'
import { printJson, printLine } from './output.ts'
import { addServerOptions, type Server, type ServerOptions, withServer } from './server.ts'
import { tableOf } from './table.ts'

interface Options extends ServerOptions {
  category?: string
  query?: string
  json?: true
}

const Tasks = z.looseObject({
  tasks: z.array(
    z.looseObject({ name: z.string(), category: z.string(), credit: z.string(), scorer: z.string(), rungs: z.int() }),
  ),
})

const Task = z.looseObject({
  name: z.string(),
  category: z.string(),
  credit: z.string(),
  config_schema: z
    .looseObject({ properties: z.record(z.string(), z.looseObject({ default: z.unknown() })).default({}) })
    .nullable(),
  ladder: z.array(z.object({ difficulty: z.number(), config: z.record(z.string(), z.unknown()) })),
  example: z.looseObject({ question: z.string() }).nullable(),
})

export function tasks(): Command {
  return addServerOptions(new Command('tasks'))
    .summary('What tasks there are, and one in full')
    .description('List the tasks, or show one: an example, its config, its ladder of difficulties.')
    .argument('[task]', 'name of a task')
    .option('--category <name>', 'only those of a category')
    .option('-q, --query <text>', 'only those with this text in name or category')
    .option('--json', 'print what the server answers')
    .addHelpText(
      'after',
      examples(
        'reasoning-gym-server tasks --category games',
        'reasoning-gym-server tasks leg_counting',
        "reasoning-gym-server tasks --json | jq -r '.tasks[].name'",
      ),
    )
    .action((task: string | undefined, options: Options) =>
      withServer(options, {}, (server) => (task === undefined ? list(server, options) : show(server, task, options))),
    )
}

async function list(server: Server, { category, query, json }: Options): Promise<void> {
  const search = new URLSearchParams({ ...(category && { category }), ...(query && { q: query }) })
  const answer = await server.call(Tasks, 'GET', `/tasks?${search.toString()}`)
  if (json) return printJson(answer)
  const rows = answer.tasks.map(({ name, category, credit, scorer, rungs }) => [name, category, credit, scorer, rungs])
  await printLine(tableOf(['task', 'category', 'credit', 'scorer', 'rungs'], rows))
  await printLine(`\n${rows.length} tasks`)
}

async function show(server: Server, name: string, { json }: Options): Promise<void> {
  const task = await server.call(Task, 'GET', `/tasks/${encodeURIComponent(name)}`)
  if (json) return printJson(task)
  await printLine(`${task.name} (${task.category}, ${task.credit} credit)\n`)
  if (task.example) await printLine(`${indented(task.example.question)}\n`)
  const fields = Object.entries(task.config_schema?.properties ?? {})
  await printLine(
    tableOf(
      ['config', 'default'],
      fields.map(([field, schema]) => [field, JSON.stringify(schema.default)]),
    ),
  )
  const rungs = task.ladder.map(({ difficulty, config }) => [difficulty.toFixed(2), JSON.stringify(config)])
  await printLine(`\n${tableOf(['difficulty', 'config'], rungs)}`)
}

function indented(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, '    ')
}
