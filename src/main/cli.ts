/** The command line. bin/reasoning-gym-server.js starts it, with a cache of its compiled code. */
const [{ runProgram }, { PROGRAM }] = await Promise.all([
  import('@reasoning-gym-server/cli/program'),
  import('./program.ts'),
])
process.exitCode = await runProgram(PROGRAM, process.argv.slice(2))
