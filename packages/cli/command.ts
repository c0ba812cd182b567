/** What a command of the program is, and what the program gives it. */
import type { Command } from 'commander'
import type { WithServer } from './with-server.ts'

export interface CommandEntry {
  name: string
  /** Positional arguments, as `--help` of the program shows them. */
  args?: string
  summary: string
  group: string
  /** Loads the module of the command, which happens only when the command runs. */
  load: (context: CommandContext) => Promise<Command>
}

export interface CommandContext {
  withServer: WithServer
  /** All commands of the program. */
  commands: readonly CommandEntry[]
  /** The file that Node runs to start the program. */
  entryPoint: string
  /** Names to complete while no server answers. */
  bundledNames: BundledNames
}

export interface BundledNames {
  listTasks: () => string[]
  listSuites: () => { name: string; description: string }[]
}
