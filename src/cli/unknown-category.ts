/** The error for a category without tasks: the server answers with an empty list. */
import type { ApiClient } from './api-client.ts'
import { CliError } from './cli-error.ts'

export async function rejectCategory(server: ApiClient, category: string): Promise<never> {
  const { explainMissing } = await import('./error-advice.ts') // lazy: most categories exist
  const message = await explainMissing({ kind: 'category', name: category }, server)
  throw new CliError(message ?? `There is no category "${category}"`, { exitCode: 2 })
}
