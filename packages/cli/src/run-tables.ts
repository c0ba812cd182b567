/** Formats runs: the list, and one run on a page. */
import type { Run, RunSummary } from '@reasoning-gym-server/contract/run'
import { heading, muted, paint, printLine, type Tone } from './output.ts'
import { formatFacts, formatTable, type TableCell } from './table.ts'

const NO_SIGNAL_WORDS: Record<string, string> = { easy: 'too easy', hard: 'too hard' }

const STATE_TONES: Record<string, Tone> = {
  flowing: 'good',
  idle: 'muted',
  finished: 'muted',
  archived: 'muted',
  starved_of_rollouts: 'warn',
  no_signal: 'warn',
  trainer_silent: 'warn',
}

function formatState({ state }: Pick<Run, 'state'>): { text: string; tone: Tone | undefined } {
  return { text: toWords(state.is), tone: STATE_TONES[state.is] ?? 'bad' }
}

export async function printRunList(runs: RunSummary[]): Promise<void> {
  const rows = runs.map((run): TableCell[] => {
    const { step, items, groups, rollouts } = run.progress
    const warnings: TableCell = run.warnings > 0 ? { text: String(run.warnings), tone: 'bad' } : '–'
    return [
      run.run,
      formatState(run),
      warnings,
      step,
      run.recent_reward?.toFixed(3),
      run.mean_reward?.toFixed(3),
      items,
      groups,
      rollouts,
    ]
  })
  const head = ['run', 'state', 'warnings', 'step', 'reward, last 10 steps', 'whole run', 'items', 'groups', 'rollouts']
  await printLine(formatTable(head, rows))
  for (const { run, warning } of runs) if (warning) await printLine(`${heading(run)}  ${paint(warning.why, 'bad')}`)
}

/** `changed` are the settings that differ from the defaults of the preset. */
export async function printRun(run: Run, changed: string[]): Promise<void> {
  const { state, progress, settings, tasks, warnings } = run
  const { text, tone } = formatState(run)
  await printLine(`${heading(run.run)}  ${paint(text, tone)}`)
  await printLine(muted(`${state.why} Since ${formatTime(state.since)}.`))
  for (const { kind, why } of warnings) await printLine(`${paint(toWords(kind), 'bad')}  ${why}`)
  await printLine(
    `\n${formatFacts([
      ['step', formatCount(progress.step)],
      ['items', formatCount(progress.items)],
      [
        'groups',
        formatParts(progress.groups, [
          ['failed', progress.failed_groups],
          ['queued', progress.queued_groups],
          ['buffered', progress.buffered_groups],
        ]),
      ],
      [
        'rollouts',
        formatParts(progress.rollouts, [
          ...Object.entries(progress.faults).map(([name, n]): Part => [`with ${toWords(name)}`, n]),
          ['unscored', progress.unscored],
          ['with a substitute reward', progress.substituted_rewards],
        ]),
      ],
      [
        'groups without signal',
        formatParts(
          sum(progress.no_signal),
          Object.entries(progress.no_signal).map(([name, n]): Part => [NO_SIGNAL_WORDS[name] ?? toWords(name), n]),
        ),
      ],
    ])}`,
  )
  const preset = formatSetting(settings.preset ?? 'original')
  const shown = Object.entries(settings).filter(([name]) => changed.includes(name))
  if (shown.length === 0) await printLine(`\n${heading('Settings')}  ${muted(`all from the preset ${preset}`)}`)
  else {
    await printLine(`\n${heading('Settings')}  ${muted(`preset ${preset}, and these changes; --json prints all`)}`)
    await printLine(formatFacts(shown.map(([name, value]) => [name, formatSetting(value)])))
  }
  const rows = Object.entries(tasks).map(([task, { difficulty, accuracy, groups, mean_reward }]): TableCell[] => [
    task,
    difficulty?.toFixed(2),
    accuracy?.toFixed(3),
    mean_reward?.toFixed(3),
    groups,
  ])
  if (rows.length > 0)
    await printLine(
      `\n${formatTable(['task', 'difficulty', 'accuracy, last groups', 'mean reward, whole run', 'groups'], rows)}`,
    )
}

type Part = [name: string, count: number]

/** `192 (3 failed, 35 buffered)`, without the parts that are zero. */
function formatParts(total: number, parts: Part[]): string {
  const named = parts.filter(([, n]) => n).map(([name, n]) => `${formatCount(n)} ${name}`)
  return `${formatCount(total)}${named.length > 0 ? ` (${named.join(', ')})` : ''}`
}

function formatCount(value: number | null): string {
  return value === null ? '–' : value.toLocaleString('en-US')
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, n) => total + n, 0)
}

function formatTime(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`
}

function toWords(name: string): string {
  return name.replaceAll('_', ' ')
}

/** One line without JSON: lists with commas, fields of an object with their names. */
export function formatSetting(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(formatSetting).join(', ')
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, field]) => `${name} ${formatSetting(field)}`)
      .join(' ')
  const [first = '', ...more] = (typeof value === 'string' ? value : JSON.stringify(value)).split('\n')
  return more.length > 0 ? `${first} …` : first
}
