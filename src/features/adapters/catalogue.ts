/**
 * GET /adapters: shows how to configure each trainer for this server, and which adapters have been used. The texts are
 * one Markdown file each in `texts/`; the pages of `docs/trainers/` are rendered from them.
 *
 * A text has a head with the fields of `AdapterDescription`, a heading, and sections. A section that begins with code is a snippet; all
 * others are for the page only.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AdapterDescription, AdapterName, AdapterView } from '@reasoning-gym-server/contract/adapter'
import { canAccessRun } from '@reasoning-gym-server/contract/caller'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../http/app.ts'
import type { AdapterUsage } from './usage.ts'

/** Placeholders where the caller writes a key and the name of a run. */
const KEY_PLACEHOLDER = 'API_KEY'

export function addAdapterListRoutes(app: App, { usage }: { usage: AdapterUsage }): void {
  app.get(
    '/adapters',
    {
      config: { access: 'readers' },
      schema: {
        operationId: 'listAdapters',
        tags: ['adapters'],
        summary: 'List adapters',
        description:
          'Returns how to configure each trainer for this server, and how much each adapter was used. The snippets contain the address by which the caller reached the server. Replace `API_KEY` with a key and `RUN` with the name of a run.',
        response: {
          200: z
            .strictObject({ adapters: z.array(AdapterView).describe('Adapters with their usage.') })
            .meta({ id: 'AdapterList', description: 'Adapters.' }),
        },
      },
    },
    async (request) => {
      const address = addressOf(request)
      const adapters = ADAPTER_TEXTS.map(async (text): Promise<AdapterView> => {
        const { last_run, ...figures } = await usage.read(text.description.name)
        const isVisible = last_run !== null && canAccessRun(request.caller, last_run)
        return { ...describeAdapter(text, address), usage: { ...figures, last_run: isVisible ? last_run : null } }
      })
      return { adapters: await Promise.all(adapters) }
    },
  )
}

/** Returns the address at which the client reached the server, possibly through a proxy that `TRUST_PROXY` names. */
function addressOf({ protocol, host, socket }: FastifyRequest): ServerAddress {
  // HTTP/1.0 needs no Host
  const reached = URL.canParse(`${protocol}://${host}`) ? host : `127.0.0.1:${socket.localPort}`
  return {
    url: `${protocol}://${reached}`,
    urlWithKey: `${protocol}://trainer:${KEY_PLACEHOLDER}@${reached}`,
  }
}

/** Address at which a client reaches this server, for the snippets. */
interface ServerAddress {
  /** `http://HOST:PORT`, as the client reached it. */
  url: string
  /** `url` with a placeholder for the key, for trainers that take only a URL: `http://trainer:API_KEY@HOST:PORT`. */
  urlWithKey: string
}

export interface AdapterText {
  heading: string
  /** With placeholders such as `{{url}}` in the code of its snippets. */
  description: AdapterDescription
  /** Markdown below the heading, with placeholders; its links are relative to `texts/`. */
  body: string
  /** Where the docs have it: on a page of its own, with others, or in a guide. */
  page: string
  /** The families of verification/trainers/versions.json that test it. */
  families: string[]
}

const HEAD = /^---\n([\s\S]*?)\n---\n\n# (.+)\n/
const SNIPPET = /^## (.+)\n\n```(\w+)\n([\s\S]*?)\n```$/gm

/** All texts, in the order in which adapters are listed. */
export const ADAPTER_TEXTS: readonly AdapterText[] = AdapterName.options.map(readText)

export function describeAdapter({ description }: AdapterText, address: ServerAddress): AdapterDescription {
  const snippets = description.snippets.map(({ code, ...snippet }) => ({ ...snippet, code: fillIn(code, address) }))
  return { ...description, snippets }
}

function readText(name: AdapterName): AdapterText {
  const text = readFileSync(join(import.meta.dirname, 'texts', `${name}.md`), 'utf8')
  const [start = '', head = '', heading = ''] = HEAD.exec(text) ?? []
  const fields = new Map(
    head.split('\n').map((line) => {
      const [field = '', ...value] = line.split(': ')
      return [field, value.join(': ')]
    }),
  )
  const description = AdapterDescription.parse({
    name,
    title: fields.get('title'),
    summary: fields.get('summary'),
    paths: fields.get('paths')?.split(', '),
    client_file: fields.get('client_file') ?? null,
    unscored: fields.get('unscored'),
    snippets: [...text.matchAll(SNIPPET)].map(([, title, language, code]) => ({ title, language, code })),
  })
  const families = fields.get('families')?.split(', ') ?? []
  return { heading, description, body: text.slice(start.length).trim(), page: fields.get('page') ?? 'own', families }
}

export function fillIn(code: string, { url, urlWithKey }: ServerAddress): string {
  const values: Record<string, string> = {
    url,
    url_with_key: urlWithKey,
  }
  return code.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder)
}
