/** The program `reasoning-gym-server`: the client commands of packages/cli, and the commands that need the server's code. */
import { COMMAND_GROUPS, type CommandEntry } from '@reasoning-gym-server/cli/command'
import { CLIENT_COMMANDS } from '@reasoning-gym-server/cli/commands'
import type { ProgramParams } from '@reasoning-gym-server/cli/program'
import { VERSION } from '../platform/installation.ts'
import { StartupError } from './bootstrap/startup-report.ts'

const loadCheckers = async () => (await import('./commands/task-checker.ts')).TASK_CHECKERS

const SERVER_COMMANDS = {
  serve: {
    name: 'serve',
    summary: 'Run the whole server on this machine',
    group: COMMAND_GROUPS.serve,
    load: async () => (await import('./commands/serve.ts')).buildServeCommand(),
  },
  api: {
    name: 'api',
    summary: 'Run one HTTP process',
    group: COMMAND_GROUPS.serve,
    load: async () => (await import('./commands/serve.ts')).buildApiCommand(),
  },
  worker: {
    name: 'worker',
    summary: 'Run one worker process',
    group: COMMAND_GROUPS.serve,
    load: async () => (await import('./commands/serve.ts')).buildWorkerCommand(),
  },
  doctor: {
    name: 'doctor',
    summary: 'Check this machine and say how to fix problems',
    group: COMMAND_GROUPS.serve,
    load: async () => (await import('./commands/doctor.ts')).buildDoctorCommand(),
  },
  task: {
    name: 'task',
    args: '<new|check>',
    summary: 'Write and check a custom task',
    group: COMMAND_GROUPS.explore,
    load: async () =>
      (await import('@reasoning-gym-server/task-tools/commands/task')).buildTaskCommand(await loadCheckers()),
  },
  validate: {
    name: 'validate',
    summary: 'Say how far a task’s scores and items can be trusted',
    group: COMMAND_GROUPS.explore,
    load: async () =>
      (await import('@reasoning-gym-server/task-tools/commands/validate')).buildValidateCommand(await loadCheckers()),
  },
} satisfies Record<string, CommandEntry>

const { serve, api, worker, doctor, task, validate } = SERVER_COMMANDS
const { demo, tasks, item, items, score, runs, ...others } = CLIENT_COMMANDS

export const PROGRAM: ProgramParams = {
  version: VERSION,
  commands: [
    serve,
    api,
    worker,
    demo,
    doctor,
    tasks,
    item,
    items,
    task,
    validate,
    score,
    runs,
    ...Object.values(others),
  ], // as `--help` lists them
  startServer: async (requirements) => (await import('./commands/serve.ts')).startTemporaryServer(requirements), // lazy: most calls need no server of their own
  knownErrors: [StartupError],
}
