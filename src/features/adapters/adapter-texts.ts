/**
 * The texts about the adapters, one Markdown file each in `texts/`: `GET /adapters` serves their setup with the address
 * of the server filled in, and `docs/guides/trainers.md` is rendered from them.
 *
 * A text has a head with the fields of `AdapterDescription`, a heading, a section for each snippet, and notes. The notes
 * are for the guide only.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AdapterDescription, AdapterName } from '@reasoning-gym-server/contract/adapter'

/** Address at which a client reaches this server, for the snippets. */
export interface ServerAddress {
  /** `http://HOST:PORT`, as the client reached it. */
  url: string
  /** `url` with a placeholder for the key, for trainers that take only a URL: `http://trainer:API_KEY@HOST:PORT`. */
  urlWithKey: string
}

export interface AdapterText {
  heading: string
  /** With placeholders such as `{{url}}` in the code of its snippets. */
  description: AdapterDescription
  /** Markdown; its links are relative to `texts/`. */
  notes: string
}

const HEAD = /^---\n([\s\S]*?)\n---\n\n# (.+)\n/
const SNIPPET = /^## (.+)\n\n```(\w+)\n([\s\S]*?)\n```$/gm
const NOTES_HEADING = '\n## Notes\n'

/** All texts, in the order in which adapters are listed. */
export const ADAPTER_TEXTS: readonly AdapterText[] = AdapterName.options.map(readText)

/** Returns the description of an adapter with the address in its snippets. */
export function describeAdapter({ description }: AdapterText, address: ServerAddress): AdapterDescription {
  const snippets = description.snippets.map(({ code, ...snippet }) => ({ ...snippet, code: fillIn(code, address) }))
  return { ...description, snippets }
}

function readText(name: AdapterName): AdapterText {
  const text = readFileSync(join(import.meta.dirname, 'texts', `${name}.md`), 'utf8')
  const [, head = '', heading = ''] = HEAD.exec(text) ?? []
  const fields = new Map(
    head.split('\n').map((line) => {
      const [field = '', ...value] = line.split(': ')
      return [field, value.join(': ')]
    }),
  )
  const [setup = '', notes = ''] = text.split(NOTES_HEADING)
  const description = AdapterDescription.parse({
    name,
    title: fields.get('title'),
    summary: fields.get('summary'),
    paths: fields.get('paths')?.split(', '),
    client_file: fields.get('client_file') ?? null,
    unscored: fields.get('unscored'),
    snippets: [...setup.matchAll(SNIPPET)].map(([, title, language, code]) => ({ title, language, code })),
  })
  return { heading, description, notes: notes.trim() }
}

function fillIn(code: string, { url, urlWithKey }: ServerAddress): string {
  const values: Record<string, string> = {
    url,
    url_with_key: urlWithKey,
    port: /:(\d+)$/.exec(url)?.[1] ?? '80',
    // ORS has a port of its own, which only the server process knows
    ors_url: url.replace(/:\d+$/, '').concat(':ORS_PORT'),
  }
  return code.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder)
}
