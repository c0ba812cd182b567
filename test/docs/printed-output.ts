/** Compares what a block of a page printed with the output that the page shows. */

/** Without the bars of text charts and spaces at the ends of lines. */
export const trimLines = (output: string) => output.trim().replace(/[ #]+$/gm, '')

/** A block's output as a pattern: any number for a number, any ID for an ID, any text for `…`, and on a line of its own any lines. */
export function patternOf(output: string): RegExp {
  const parts = /((?:eval|collect)-[0-9a-f]{20})|(─+)|(^…$)|(…)|(-?\d+(?:\.\d+)?)|( +)|[.*+?^${}()|[\]\\]/gm
  const pattern = trimLines(output).replace(parts, (part, id, rule, lines, text, number, spaces) => {
    if (id !== undefined) return '[a-z]+-[0-9a-f]{20}'
    if (rule !== undefined) return '─+'
    if (lines !== undefined) return '[^]*?'
    if (text !== undefined) return '.*'
    if (number !== undefined) return String.raw`-?\d+(?:\.\d+)?`
    return spaces === undefined ? `\\${part}` : ' +'
  })
  return new RegExp(`^${pattern}$`)
}
