/** Tests whether this user can write to a directory, by writing to it. */
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Returns undefined if this user can write to the directory or its nearest existing parent, and the system's error code otherwise. */
export function findWriteProblem(folder: string): string | undefined {
  let nearest = folder
  while (!existsSync(nearest) && nearest !== dirname(nearest)) nearest = dirname(nearest)
  try {
    rmdirSync(mkdtempSync(join(nearest, '.doctor-')))
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}
