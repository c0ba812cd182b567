/** Schema of a response body that is not JSON. */
import { z } from 'zod'

export function textResponse<Type extends string>(type: Type, description: string) {
  return { description, content: { [type]: { schema: z.string() } } } as {
    description: string
    content: Record<Type, { schema: z.ZodString }>
  } // the one key is `type`
}
