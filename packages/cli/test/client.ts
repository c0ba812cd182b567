/** A program of the client commands alone: nothing of the server is on this machine. */
import { CLIENT_COMMANDS } from '../src/commands.ts'
import { type ProgramParams, runProgram } from '../src/program.ts'

export const CLIENT: ProgramParams = {
  version: '0.0.0',
  commands: Object.values(CLIENT_COMMANDS),
  startServer: () => Promise.reject(new Error('no server can be started here')),
  knownErrors: [],
}

if (import.meta.main) process.exitCode = await runProgram(CLIENT, process.argv.slice(2))
