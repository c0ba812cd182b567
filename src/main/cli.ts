/** Entry point of the command line. Compiled code is cached between calls, which saves about half of the startup time. */
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

enableCompileCache(join(homedir(), '.cache', 'reasoning-gym-server')) // has no effect if the folder is not writable

const [{ runProgram }, { PROGRAM }] = await Promise.all([
  import('@reasoning-gym-server/cli/program'),
  import('./program.ts'),
])
process.exitCode = await runProgram(PROGRAM, process.argv.slice(2))
