/** The commands that only call a server. Each module is loaded only when its command runs, so that `--help` starts fast. */
import { COMMAND_GROUPS, type CommandEntry } from './command.ts'

const { serve, explore, score, train, evaluate, test } = COMMAND_GROUPS

export const CLIENT_COMMANDS = {
  demo: {
    name: 'demo',
    summary: 'Train a simulated model and watch it on the dashboard',
    group: serve,
    load: async ({ withServer }) => (await import('./commands/demo.ts')).buildDemoCommand(withServer),
  },
  tasks: {
    name: 'tasks',
    args: '[task]',
    summary: 'List the tasks or show one',
    group: explore,
    load: async ({ withServer }) => (await import('./commands/tasks.ts')).buildTasksCommand(withServer),
  },
  item: {
    name: 'item',
    args: '[task]',
    summary: 'Show one item',
    group: explore,
    load: async ({ withServer }) => (await import('./commands/item.ts')).buildItemCommand(withServer),
  },
  items: {
    name: 'items',
    summary: 'Print items as a prompt file for a trainer',
    group: explore,
    load: async ({ withServer }) => (await import('./commands/items.ts')).buildItemsCommand(withServer),
  },
  score: {
    name: 'score',
    args: '[file]',
    summary: 'Score completions',
    group: score,
    load: async ({ withServer }) => (await import('./commands/score.ts')).buildScoreCommand(withServer),
  },
  runs: {
    name: 'runs',
    summary: 'List, show, change, save, restore or delete training runs',
    group: train,
    load: async ({ withServer }) => (await import('./commands/runs.ts')).buildRunsCommand(withServer),
  },
  rescore: {
    name: 'rescore',
    args: '<run>',
    summary: 'Score a run’s groups again under other rules',
    group: train,
    load: async ({ withServer }) => (await import('./commands/rescore.ts')).buildRescoreCommand(withServer),
  },
  export: {
    name: 'export',
    args: '<run>',
    summary: 'Print a run’s rollouts as a training data set',
    group: train,
    load: async ({ withServer }) => (await import('./commands/export.ts')).buildExportCommand(withServer),
  },
  collect: {
    name: 'collect',
    summary: 'Collect scored completions of a model on a run’s items',
    group: train,
    load: async ({ withServer }) => (await import('./commands/collect.ts')).buildCollectCommand(withServer),
  },
  eval: {
    name: 'eval',
    summary: 'Evaluate a model on a suite, or compare two evals',
    group: evaluate,
    load: async ({ withServer }) => (await import('./commands/eval.ts')).buildEvalCommand(withServer),
  },
  'mock-model': {
    name: 'mock-model',
    summary: 'Serve a mock model for demos and tests',
    group: test,
    load: async () => (await import('./commands/mock-model.ts')).buildModelCommand(),
  },
} satisfies Record<string, CommandEntry>
