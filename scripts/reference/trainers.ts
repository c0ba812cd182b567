/**
 * Writes docs/reference/trainers.md: how to set up each trainer, from the texts that `GET /adapters` serves, and which release of
 * each was proven when. A test rewrites it, and so does `npm run trainers -- --record`.
 */
import { ADAPTER_TEXTS, type AdapterText, describeAdapter } from '../../src/features/adapters/catalogue.ts'
import { describePackages, readFamilies } from '../../verification/trainers/versions.ts'

const ADDRESS = { url: 'http://127.0.0.1:8000', urlWithKey: 'http://trainer:API_KEY@127.0.0.1:8000' }
/** What the guide shows once, under *Before you start*. */
const COMMON_SNIPPET = 'Install the client, and configure the run once'
/** Data sets have a guide of their own. */
const NOT_TRAINERS: readonly string[] = ['dataset']

const HEAD = `# Snippets for trainers

This page shows, for each trainer, what to paste into its configuration and what the trainer gets for completions without a score. First
[start a server and configure a run](../guides/trainers.md#before-you-start). Replace \`API_KEY\` and \`RUN\`. \`GET /adapters\` and the page
*Trainers* of the dashboard show the same snippets with the address of your server. It is written from \`src/features/adapters/texts\`.
`

const TESTED = `## Tested versions

\`npm run trainers -- FAMILY\` runs the real client code of a trainer against a real server; \`--newest\` uses its newest release
instead of the one in the table. The last column says where it runs. TRL, verl, slime, NeMo Gym
and Tinker also run for pull requests that change what trainers use.
`

export function buildTrainersPage(): string {
  const sections = ADAPTER_TEXTS.filter(({ description }) => !NOT_TRAINERS.includes(description.name))
  return [HEAD, ...sections.map(formatSection), TESTED, formatProvenTable()].join('\n')
}

function formatSection(text: AdapterText): string {
  const { summary, unscored, snippets } = describeAdapter(text, ADDRESS)
  const own = snippets.filter(({ title }) => title !== COMMON_SNIPPET)
  const blocks = own.map(({ title, language, code }) => `${title}:\n\n\`\`\`${language}\n${code}\n\`\`\``)
  const notes = text.notes === '' ? [] : [linkFromPage(text.notes)]
  return `${[`## ${text.heading}`, summary, ...blocks, `**Unscored:** ${unscored}`, ...notes].join('\n\n')}\n`
}

/** The links of a text start from its own folder. */
function linkFromPage(notes: string): string {
  return notes.replaceAll('../../../../docs/', '../').replaceAll('../../../../', '../../')
}

function formatProvenTable(): string {
  const rows = readFamilies().map((family) => {
    const { trainer, name, proven, quick } = family
    return `| ${trainer} | \`${name}\` | ${describePackages(family)} | ${proven ?? 'not yet'} | ${quick ? 'in CI' : 'weekly'} |`
  })
  return ['| trainer | family | packages | proven on | |', '|---|---|---|---|---|', ...rows, ''].join('\n')
}
