/** Reads and changes the environment of the server. No other file of `src` reads `process.env`. */
import { readEnvironment } from '@reasoning-gym-server/contract/dot-env'

/** Whether the variable is set, in the environment or in `.env`, rather than left at its default. */
export function isVariableSet(name: string): boolean {
  return (readEnvironment()[name] ?? '') !== ''
}

/** The interpreter that already has the packages of requirements.txt, such as that of `pip install`; undefined if the server makes one. */
export function getEnginePython(): string | undefined {
  return readEnvironment().ENGINE_PYTHON || undefined
}

/** The environment for a child process: this process's, with changes. */
export function buildChildEnvironment(changes: Record<string, string | undefined>): NodeJS.ProcessEnv {
  return { ...process.env, ...changes }
}

/** Lets command-line options override environment variables. */
export function overrideEnvironment(changes: Record<string, string | number | undefined>): void {
  for (const [name, value] of Object.entries(changes)) if (value !== undefined) process.env[name] = String(value)
}
