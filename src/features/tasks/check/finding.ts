/** What one check says of a task. */

export interface TaskFinding {
  name: string
  is: 'ok' | 'warn' | 'fail'
  found: string
  /** What the author can do about it. */
  advice?: string
}

export const ok = (name: string, found: string): TaskFinding => ({ name, is: 'ok', found })
export const warn = (name: string, found: string, advice: string): TaskFinding => ({ name, is: 'warn', found, advice })
export const fail = (name: string, found: string, advice: string): TaskFinding => ({ name, is: 'fail', found, advice })

/** Shortens a text for a line of the report. */
export function quote(text: string, chars = 60): string {
  const shown = JSON.stringify(text)
  return shown.length <= chars ? shown : `${shown.slice(0, chars)}…`
}
