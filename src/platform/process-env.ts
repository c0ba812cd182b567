/**
 * Reads and changes `process.env`, which no other file does. environment.ts declares the variables; it loads zod, for which
 * `--help` must not wait.
 */
import { existsSync } from 'node:fs'
import { loadEnvFile } from 'node:process'

/** A setting is invalid. The message is one line that names it. */
export class ConfigError extends Error {}

/** Loads `.env`, if it exists, and returns the environment. */
export function readEnvironment(): NodeJS.ProcessEnv {
  if (existsSync('.env')) loadEnvFile('.env')
  return process.env
}

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
