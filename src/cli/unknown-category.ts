/** The error for a category without tasks: the server answers with an empty list. */
import type { ApiClient } from './api-client.ts'
import { CliError } from './cli-error.ts'

export async function rejectCategory(server: ApiClient, category: string): Promise<never> {
  const { explainUnknown } = await import('./error-advice.ts') // lazy: most categories exist
  throw new CliError(await explainUnknown(server, 'category', category), { exitCode: 2 })
}
