/** `validate`: the validation of tasks, from the recorded figures or measured now. */
import { existsSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { CliError } from '@reasoning-gym-server/cli/cli-error'
import { CliCommand, EXIT_CODES } from '@reasoning-gym-server/cli/command'
import { printJson, printLine, printStatus } from '@reasoning-gym-server/cli/output'
import { formatTable, type TableCell } from '@reasoning-gym-server/cli/table'
import type { CheckResult, TaskValidation, TruthTable } from '@reasoning-gym-server/contract/validation'
import { type Command, Option } from 'commander'
import type { TaskCheckers } from './task-checker.ts'

interface ValidateOptions {
  task?: string[]
  path?: string
  measure?: true
  scoring: 'upstream' | 'hardened'
  report?: string
  json?: true
}

export function buildValidateCommand(checkers: TaskCheckers): Command {
  return new CliCommand('validate')
    .description(
      'Show for each task how often its verifier is right (Youden’s J), and which checks of OpenEnv’s RFC 008 fail. Figures of the library’s tasks were recorded; those of custom tasks are measured now. Needs no running server.',
    )
    .option('--task <names...>', 'only these tasks')
    .option('--path <path>', 'measure the custom tasks of a file, package or folder, as in TASKS_PATH')
    .option('--measure', 'measure the library’s tasks again, and compare their items with the recorded digests')
    .addOption(
      new Option('--scoring <mode>', 'scoring that the checks are about')
        .choices(['hardened', 'upstream'])
        .default('hardened'),
    )
    .option('--report <file>', 'write truth tables and reports to a JSON file')
    .option('--json', 'print truth tables and reports as JSON')
    .examples(
      [
        'reasoning-gym-server validate --report validation.json',
        'reasoning-gym-server validate --task gcd sudoku --measure',
        'reasoning-gym-server validate --path tasks --report validation.json',
      ],
      { ...EXIT_CODES, 0: 'no check of severity fail failed', 1: 'at least one such check failed' },
    )
    .action((options: ValidateOptions) => validateTasks(options, checkers))
}

async function validateTasks(options: ValidateOptions, checkers: TaskCheckers): Promise<void> {
  const isMeasured = options.path !== undefined || options.measure
  const validations: TaskValidation[] = []
  for await (const validation of isMeasured ? measure(options, checkers) : readRecorded(options, checkers))
    validations.push(validation)
  if (options.report !== undefined) writeReport(options.report, validations)
  if (options.json) await printJson(validations)
  else
    await printLine(
      formatTable(['task', 'J hardened', 'J upstream', 'verdict', 'failed checks'], validations.map(listCells)),
    )
  if (validations.some(({ report }) => report.verdict === 'fail')) process.exitCode = 1
}

async function* readRecorded(
  { task: only, scoring }: ValidateOptions,
  { builtInTasks, readRecorded }: TaskCheckers,
): AsyncGenerator<TaskValidation> {
  for (const task of choose(builtInTasks, only)) yield await readRecorded(task, scoring)
}

async function* measure(
  { task: only, path, scoring }: ValidateOptions,
  { builtInTasks, open }: TaskCheckers,
): AsyncGenerator<TaskValidation> {
  const place = path !== undefined && existsSync(path) ? resolve(path) : path
  const checker = await open(place, printStatus)
  try {
    const names = path === undefined ? builtInTasks : Object.keys((await checker.list()).tasks)
    for (const task of choose(names, only)) {
      printStatus(`Measuring ${task}`)
      yield await checker.validate(task, scoring)
    }
  } finally {
    await checker.close()
  }
}

function choose(names: readonly string[], only: readonly string[] | undefined): readonly string[] {
  const unknown = only?.filter((name) => !names.includes(name)) ?? []
  if (unknown.length > 0)
    throw new CliError(`There is no task named ${unknown.join(', ')}. "reasoning-gym-server tasks" lists them`, {
      exitCode: 2,
    })
  return only ?? names
}

function writeReport(file: string, validations: readonly TaskValidation[]): void {
  try {
    writeFileSync(file, `${JSON.stringify({ validations }, undefined, 1)}\n`)
  } catch (error) {
    throw new CliError(`The report cannot be written: ${(error as Error).message}`)
  }
  printStatus(`Wrote ${file}`)
}

function listCells({ task, truth_table, report }: TaskValidation): TableCell[] {
  const failed = report.results.filter(({ status }) => status === 'fail').map(formatFailure)
  return [task, formatJ(truth_table?.hardened), formatJ(truth_table?.upstream), report.verdict, failed.join(', ')]
}

function formatJ(table: TruthTable | undefined): string {
  if (!table) return '–'
  const { value, low, high } = table.youden_j
  return `${value.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
}

function formatFailure({ check_id }: CheckResult): string {
  return check_id.slice(check_id.indexOf('.') + 1)
}
