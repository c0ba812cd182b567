/** Runs an entry point and prints a startup error as one line, without a stack trace. */
import { ConfigError } from '../platform/config.ts'
import { StartupError } from './bootstrap/startup-error.ts'

export async function runMain(start: () => Promise<void>): Promise<void> {
  try {
    await start()
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StartupError
    console.error(known ? `reasoning-gym-server: ${error.message}` : error)
    process.exit(1)
  }
}
