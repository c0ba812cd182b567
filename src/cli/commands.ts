/** The table of commands. Each module is loaded only when its command runs, so that `--help` and client commands start fast. */
import type { Command } from 'commander'
import { COMMAND_GROUPS } from './help.ts'

export interface CommandEntry {
  name: string
  /** Positional arguments, as `--help` of the program shows them. */
  args?: string
  summary: string
  group: string
  load: () => Promise<Command>
}

const { serve, explore, score, train, evaluate, test, shell } = COMMAND_GROUPS

export const COMMANDS: CommandEntry[] = [
  {
    name: 'serve',
    summary: 'Run the whole server on this machine',
    group: serve,
    load: async () => (await import('./server-commands.ts')).buildServeCommand(),
  },
  {
    name: 'api',
    summary: 'Run one HTTP process',
    group: serve,
    load: async () => (await import('./server-commands.ts')).buildApiCommand(),
  },
  {
    name: 'worker',
    summary: 'Run one worker process',
    group: serve,
    load: async () => (await import('./server-commands.ts')).buildWorkerCommand(),
  },
  {
    name: 'demo',
    summary: 'Train a simulated model and watch it on the dashboard',
    group: serve,
    load: async () => (await import('./demo.ts')).buildDemoCommand(),
  },
  {
    name: 'doctor',
    summary: 'Check this machine and say how to fix problems',
    group: serve,
    load: async () => (await import('./doctor.ts')).buildDoctorCommand(),
  },
  {
    name: 'tasks',
    args: '[task]',
    summary: 'List the tasks or show one',
    group: explore,
    load: async () => (await import('./tasks.ts')).buildTasksCommand(),
  },
  {
    name: 'item',
    args: '[task]',
    summary: 'Show one item',
    group: explore,
    load: async () => (await import('./item.ts')).buildItemCommand(),
  },
  {
    name: 'items',
    summary: 'Print items as a prompt file for a trainer',
    group: explore,
    load: async () => (await import('./items.ts')).buildItemsCommand(),
  },
  {
    name: 'task',
    args: '<new|check>',
    summary: 'Write and check a custom task',
    group: explore,
    load: async () => (await import('./task.ts')).buildTaskCommand(),
  },
  {
    name: 'score',
    args: '[file]',
    summary: 'Score completions',
    group: score,
    load: async () => (await import('./score.ts')).buildScoreCommand(),
  },
  {
    name: 'runs',
    summary: 'List, show, change, save, restore or delete training runs',
    group: train,
    load: async () => (await import('./runs.ts')).buildRunsCommand(),
  },
  {
    name: 'export',
    args: '<run>',
    summary: 'Print a run’s rollouts as a training data set',
    group: train,
    load: async () => (await import('./export.ts')).buildExportCommand(),
  },
  {
    name: 'collect',
    summary: 'Collect scored completions of a model on a run’s items',
    group: train,
    load: async () => (await import('./collect.ts')).buildCollectCommand(),
  },
  {
    name: 'eval',
    summary: 'Evaluate a model on a suite, or compare two evals',
    group: evaluate,
    load: async () => (await import('./eval.ts')).buildEvalCommand(),
  },
  {
    name: 'duel',
    summary: 'Compare two models on the same items until one is shown to be better',
    group: evaluate,
    load: async () => (await import('./duel.ts')).buildDuelCommand(),
  },
  {
    name: 'mock-model',
    summary: 'Serve a mock model for demos and tests',
    group: test,
    load: async () => (await import('./mock-model.ts')).buildModelCommand(),
  },
  {
    name: 'completion',
    args: '<shell>',
    summary: 'Print a script that completes commands and names in a shell',
    group: shell,
    load: async () => (await import('./completion.ts')).buildCompletionCommand(() => COMMANDS),
  },
]
