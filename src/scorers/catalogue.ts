/** The tasks that are scored in TypeScript. */
export const NATIVE_TASKS: ReadonlySet<string> = new Set<string>()
