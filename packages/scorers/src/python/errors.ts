/** Python's exceptions as they are thrown here, and its `except Exception`. */
import { PyValueError } from './numbers.ts'
import { PyRecursionError, PyTypeError } from './values.ts'

/** Where Python raises KeyError or IndexError. */
export class PyLookupError extends Error {}

/** What `attempt` gives, or `otherwise` where Python would raise; any other error is ours and passes. */
export function catchPythonError<T>(attempt: () => T, otherwise: T): T {
  try {
    return attempt()
  } catch (error) {
    if (isPythonError(error)) return otherwise
    throw error
  }
}

function isPythonError(error: unknown): boolean {
  return [PyValueError, PyTypeError, PyLookupError, PyRecursionError].some((kind) => error instanceof kind)
}
