/** Reads the environment with the variables of `.env`. Loads no package, since `--help` must not wait. */
import { existsSync } from 'node:fs'
import { loadEnvFile } from 'node:process'

/** Loads `.env`, if it exists, and returns the environment. */
export function readEnvironment(): NodeJS.ProcessEnv {
  if (existsSync('.env')) loadEnvFile('.env')
  return process.env
}

/** A setting is invalid. The message is one line that names it. */
export class ConfigError extends Error {}
