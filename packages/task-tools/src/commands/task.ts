/** `task new` and `task check`: custom tasks, beside those of the library. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CliError } from '@reasoning-gym-server/cli/cli-error'
import { CliCommand, EXIT_CODES } from '@reasoning-gym-server/cli/command'
import { formatFinding, summarizeFindings } from '@reasoning-gym-server/cli/findings'
import { heading, muted, print, printJson, printLine, printNext, printStatus } from '@reasoning-gym-server/cli/output'
import type { Finding } from '@reasoning-gym-server/contract/finding'
import type { Command } from 'commander'
import type { TaskCheckers } from './task-checker.ts'

const TEMPLATE_FOLDER = join(import.meta.dirname, 'task-template')
const TASK_NAME = /^[a-z][a-z0-9_]{0,63}$/
const NAME_WIDTH = 11

export function buildTaskCommand(checkers: TaskCheckers): Command {
  return new CliCommand('task')
    .description('Write a custom task, and check it before you train on it.')
    .addCommand(buildTaskNewCommand(checkers))
    .addCommand(buildTaskCheckCommand(checkers))
    .examples(['reasoning-gym-server task new my_task', 'reasoning-gym-server task check tasks'])
}

function buildTaskNewCommand({ builtInTasks }: TaskCheckers): Command {
  return new CliCommand('new')
    .summary('Write a working example of a task, with its test')
    .description('Write a working example of a task, with a curriculum and a test, for you to change.')
    .argument('<name>', 'name of the task: lowercase letters, digits and underscores')
    .option('--path <directory>', 'directory to write the files to', 'tasks')
    .examples(['reasoning-gym-server task new my_task', 'reasoning-gym-server task new my_task --path ./more-tasks'])
    .action((name: string, { path }: { path: string }) => writeTask(name, path, builtInTasks))
}

function buildTaskCheckCommand(checkers: TaskCheckers): Command {
  return new CliCommand('check')
    .summary('Check custom tasks before you train on them')
    .description(
      'Check custom tasks as a reviewer would: whether items are the same in every process, distinct and made in time; whether scores are right, in time, and safe from guesses and hostile answers; and whether every rung of the ladder works. Runs the unit tests beside the tasks, in the sandbox of the tasks. Needs no running server.',
    )
    .argument('<path>', 'Python file, package, folder of both, or name of a module, as in TASKS_PATH')
    .option('--task <name>', 'check only this task')
    .option('--json', 'print the findings as JSON')
    .examples(['reasoning-gym-server task check tasks', 'reasoning-gym-server task check tasks/my_task.py --json'], {
      ...EXIT_CODES,
      0: 'every check passed, possibly with warnings',
      1: 'at least one check failed',
    })
    .action((path: string, options: CheckOptions) => checkTasks(path, options, checkers))
}

async function writeTask(name: string, folder: string, builtInTasks: readonly string[]): Promise<void> {
  if (!TASK_NAME.test(name))
    throw new CliError(`${name} is not a task name: use lowercase letters, digits and underscores`, { exitCode: 2 })
  if (builtInTasks.includes(name))
    throw new CliError(`The library has a task named ${name}. Choose another name`, { exitCode: 2 })
  const className = name.replace(/(?:^|_)([a-z0-9])/g, (_, first: string) => first.toUpperCase()).replaceAll('_', '')
  const files = ['my_task.py', 'test_my_task.py'].map((file) => ({
    path: join(folder, file.replace('my_task', name)),
    text: readFileSync(join(TEMPLATE_FOLDER, file), 'utf8').replaceAll('my_task', name).replaceAll('MyTask', className),
  }))
  for (const { path } of files) if (existsSync(path)) throw new CliError(`${path} exists already. Choose another name`)
  try {
    mkdirSync(folder, { recursive: true })
    for (const { path, text } of files) writeFileSync(path, text, { flag: 'wx' })
  } catch (error) {
    throw new CliError(`The task cannot be written: ${(error as Error).message}`)
  }
  for (const { path } of files) await printLine(path)
  const next = [
    `reasoning-gym-server task check ${folder}`,
    `reasoning-gym-server serve --tasks-path ${folder} --watch-tasks`,
  ]
  printNext({ url: '', isTemporary: true }, { next: next.join(`\n${' '.repeat(6)}`) })
}

interface CheckOptions {
  task?: string
  json?: true
}

/** What `--json` prints. */
interface CheckReport {
  /** Whether no check failed. */
  ok: boolean
  /** Files that give no task, and the unit tests. */
  files: Finding[]
  tasks: Record<string, { file: string; code_hash: string; findings: Finding[] }>
}

async function checkTasks(path: string, { task: only, json }: CheckOptions, checkers: TaskCheckers): Promise<void> {
  if (existsSync(path) && statSync(path).isFile() && !path.endsWith('.py'))
    throw new CliError(`${path} is not a Python file`, { exitCode: 2 })
  const checker = await checkers.open(existsSync(path) ? resolve(path) : path, printStatus)
  try {
    const { tasks, problems } = await checker.list()
    const names = Object.keys(tasks).filter((name) => only === undefined || name === only)
    if (only !== undefined && names.length === 0)
      throw new CliError(`${path} has no task named ${only}. Its tasks: ${Object.keys(tasks).join(', ') || 'none'}`)
    const show = async (finding: Finding) => {
      if (!json) await printLine(formatFinding(finding, NAME_WIDTH))
    }
    const report: CheckReport = { ok: true, files: [], tasks: {} }
    for (const { file, detail } of problems) {
      const advice = 'correct the file, or move it to another folder'
      report.files.push({ name: 'import', is: 'fail', found: `${file}: ${detail}`, advice })
    }
    const tests = only === undefined ? await checker.checkUnitTests() : undefined
    if (tests) report.files.push(tests)
    for (const finding of report.files) await show(finding)
    for (const name of names) {
      const { file = '', code_hash = '' } = tasks[name]?.custom ?? {}
      if (!json) await print(`\n${heading(name)} ${muted(`${file}, code ${code_hash}`)}\n`)
      report.tasks[name] = { file, code_hash, findings: await checker.check(name, show) }
    }
    const all = [...report.files, ...Object.values(report.tasks).flatMap(({ findings }) => findings)]
    report.ok = all.every(({ is }) => is !== 'fail')
    if (json) await printJson(report)
    else await printLine(`\n${summarizeFindings(all)}`)
    if (!report.ok) process.exitCode = 1
  } finally {
    await checker.close()
  }
}
