/** Parses a Dockerfile into stages with their instructions. Supports what this project's Dockerfile uses and rejects the rest. */

export type DockerInstruction =
  | { kind: 'RUN'; command: string }
  | { kind: 'COPY'; from: string | undefined; sources: string[]; target: string }
  | { kind: 'WORKDIR' | 'USER'; value: string }
  | { kind: 'ENV'; values: Record<string, string> }
  | { kind: 'HEALTHCHECK' | 'ENTRYPOINT' | 'CMD'; command: string[] }

export interface DockerStage {
  base: string
  name: string | undefined
  instructions: DockerInstruction[]
}

/** Throws for unsupported instructions. */
export function parseDockerfile(text: string): DockerStage[] {
  const stages: DockerStage[] = []
  const defaults: Record<string, string> = {}
  for (const line of joinLines(text)) {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/s.exec(line) ?? []
    if (word === 'ARG') {
      const [name = '', value = ''] = rest.split('=')
      defaults[name] = value
    } else if (word === 'FROM') {
      const [, base = '', name] = /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(rest) ?? []
      stages.push({ base: base.replace(/\$\{(\w+)\}/g, (_, of: string) => defaults[of] ?? ''), name, instructions: [] })
    } else if (!['EXPOSE', 'VOLUME'].includes(word)) {
      const stage = stages.at(-1)
      if (!stage) throw new Error(`before FROM: ${line}`)
      stage.instructions.push(parseInstruction(word, rest))
    }
  }
  return stages
}

/** Lines without comments, with continuation lines joined. */
function joinLines(text: string): string[] {
  return text
    .replace(/^\s*#.*\n/gm, '')
    .replaceAll('\\\n', '')
    .split('\n')
    .filter((line) => line.trim() !== '')
}

function parseInstruction(word: string, rest: string): DockerInstruction {
  switch (word) {
    case 'RUN':
      return { kind: word, command: rest }
    case 'COPY': {
      const [, from, paths = ''] = /^(?:--from=(\S+)\s+)?(.*)$/.exec(rest) ?? []
      const places = paths.split(/\s+/)
      return { kind: word, from, sources: places.slice(0, -1), target: places.at(-1) ?? '' }
    }
    case 'WORKDIR':
    case 'USER':
      return { kind: word, value: rest }
    case 'ENV':
      return {
        kind: word,
        values: Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
      } // NAME=value
    case 'ENTRYPOINT':
    case 'CMD':
      return { kind: word, command: JSON.parse(rest) as string[] } // the exec form
    case 'HEALTHCHECK':
      return { kind: word, command: JSON.parse(rest.slice(rest.indexOf('CMD') + 3)) as string[] } // the exec form
    default:
      throw new Error(`not known: ${word} ${rest}`)
  }
}

/** Returns the last instruction of a kind. Throws if there is none. */
export function requireLastInstruction<Kind extends DockerInstruction['kind']>(
  stage: DockerStage | undefined,
  kind: Kind,
): DockerInstruction & { kind: Kind } {
  const found = stage?.instructions.findLast((instruction) => instruction.kind === kind)
  if (!found) throw new Error(`no ${kind}`)
  return found as DockerInstruction & { kind: Kind } // of that kind
}
