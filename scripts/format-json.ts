/**
 * JSON for a file in git: what fits on a line stands on one, the rest is broken into lines. A change shows as the lines that
 * it is about, and the file is little larger than the minified text.
 */
export function formatJson(value: unknown, width: number, indent = ''): string {
  const text = JSON.stringify(value)
  if (text.length + indent.length <= width || typeof value !== 'object' || value === null) return text
  const deeper = `${indent} `
  const isList = Array.isArray(value)
  const lines = isList
    ? value.map((one) => deeper + formatJson(one, width, deeper))
    : Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .map(([key, inner]) => `${deeper}${JSON.stringify(key)}: ${formatJson(inner, width, deeper)}`)
  const [open, close] = isList ? '[]' : '{}'
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}
