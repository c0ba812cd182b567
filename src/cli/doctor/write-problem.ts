/** Whether this user can write to a folder: found by doing it. */
import { existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Undefined if a file can be created in the folder, or in the nearest one above it that exists; otherwise the system's reason. */
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
