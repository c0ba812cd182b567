/** `completion`: prints a script that completes commands, options and names in a shell. The script calls this command for suggestions. */

import { readClientConfig } from '@reasoning-gym-server/contract/environment'
import { Argument, type Command, Option } from 'commander'
import { ApiClient } from '../api-client.ts'
import { CliError } from '../cli-error.ts'
import { type BundledNames, CliCommand, type CommandContext } from '../command.ts'
import { listEntries } from '../error-advice.ts'
import { print, printLine } from '../output.ts'
import { getConfiguredServer, getLocalUrl } from '../with-server.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

export function buildCompletionCommand(context: CommandContext): Command {
  return new CliCommand('completion')
    .description(
      'Print a script that completes commands, options, and the names of tasks, suites, runs and evals. It asks the server at --url, REASONING_GYM_URL or HOST:PORT for names. If no such command is on the PATH, the script also defines reasoning-gym-server, which starts faster than npx.',
    )
    .addArgument(new Argument('<shell>', 'shell to complete in').choices(SHELLS))
    .addArgument(new Argument('[words...]', 'words of the command line so far').default([], ''))
    .addOption(new Option('--suggest', 'print suggestions for the last of the words').hideHelp())
    .examples([
      'reasoning-gym-server completion bash > ~/.reasoning-gym.bash && echo "source ~/.reasoning-gym.bash" >> ~/.bashrc',
      'reasoning-gym-server completion zsh > ~/.reasoning-gym.zsh && echo "source ~/.reasoning-gym.zsh" >> ~/.zshrc',
      'reasoning-gym-server completion fish > ~/.config/fish/conf.d/reasoning-gym-server.fish',
    ])
    .action(async (shell: Shell, words: string[], { suggest }: { suggest?: true }) => {
      if (!suggest) {
        if (words.length > 0) throw new CliError('Name one shell: bash, zsh or fish', { exitCode: 2 })
        return print(SCRIPTS[shell](quoteCommandLine(context.entryPoint)))
      }
      for (const suggestion of await suggestWords(context, words)) await printLine(formatSuggestion(shell, suggestion))
    })
}

/** A line as the shell reads it. zsh separates the description by a colon, so colons in words are escaped. */
function formatSuggestion(shell: Shell, { word, description }: { word: string; description?: string }): string {
  if (shell === 'fish') return description ? `${word}\t${description}` : word
  if (shell === 'bash') return word
  const escaped = word.replaceAll(':', '\\:')
  return description ? `${escaped}:${description}` : escaped
}

/** This Node and this program, quoted for a shell. */
function quoteCommandLine(entryPoint: string): string {
  return [process.execPath, entryPoint].map((path) => `'${path.replaceAll("'", `'\\''`)}'`).join(' ')
}

const SCRIPTS: Record<Shell, (program: string) => string> = {
  bash: (program) => `# Completion of reasoning-gym-server for bash.
command -v reasoning-gym-server >/dev/null || reasoning-gym-server() { ${program} "$@"; }
_reasoning_gym_server() {
  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}"
  local line="\${COMP_LINE:0:COMP_POINT}"
  # Bash splits words at colons, as in category:games. Suggestions must then leave out what stands before the colon.
  local before=""
  if [[ "\${COMP_WORDBREAKS}" == *:* ]]; then
    local last="\${line##*[[:space:]]}"
    [[ "$last" == *:* ]] && before="\${last%:*}:" && word="$last"
  fi
  local words
  read -r -d '' -a words <<< "$(printf '%s' "$line" | tr -s ' ' '\\n')"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  local found
  mapfile -t found < <(${program} completion --suggest bash -- "\${words[@]:1}" 2>/dev/null)
  COMPREPLY=()
  local each
  for each in "\${found[@]}"; do COMPREPLY+=("\${each#"$before"}"); done
  [[ "\${#COMPREPLY[@]}" == 1 && "\${COMPREPLY[0]}" == *= ]] && compopt -o nospace
  return 0
}
complete -o default -F _reasoning_gym_server reasoning-gym-server
`,
  zsh: (program) => `# Completion of reasoning-gym-server for zsh.
(( $+commands[reasoning-gym-server] )) || reasoning-gym-server() { ${program} "$@" }
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_reasoning_gym_server() {
  local -a found
  found=("\${(@f)$(${program} completion --suggest zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if (( \${#found} )) && [[ -n "\${found[1]}" ]]; then _describe -V 'reasoning-gym-server' found; else _files; fi
}
compdef _reasoning_gym_server reasoning-gym-server
`,
  fish: (program) => `# Completion of reasoning-gym-server for fish.
type -q reasoning-gym-server; or function reasoning-gym-server; ${program} $argv; end
function __reasoning_gym_server
  set -l words (commandline -opc) (commandline -ct)
  ${program} completion --suggest fish -- $words[2..-1] 2>/dev/null
end
complete -c reasoning-gym-server -f -a '(__reasoning_gym_server)'
`,
}

interface Suggestion {
  word: string
  description?: string
}

/** A shell waits for the suggestions, so a server that does not answer soon is left out. */
const SERVER_TIMEOUT_MS = 800

/** `words` are those after the name of the program. The last one is being typed, and may be empty. */
export async function suggestWords(context: CommandContext, words: string[]): Promise<Suggestion[]> {
  const typed = words.at(-1) ?? ''
  const all = await listWords(context, words.slice(0, -1), typed)
  return all.filter(({ word }) => word.startsWith(typed))
}

async function listWords(context: CommandContext, before: string[], typed: string): Promise<Suggestion[]> {
  const { commands: entries, bundledNames } = context
  const [name, ...rest] = before
  if (name === undefined) {
    if (typed.startsWith('-')) return [{ word: '--help' }, { word: '--version' }]
    return entries.map((entry) => ({ word: entry.name, description: entry.summary }))
  }
  const entry = entries.find((each) => each.name === name)
  if (entry === undefined) return []
  const { command, path, positionals, pending } = descend(await entry.load(context), rest)
  if (pending) return listOptionValues(pending, path, { before, bundledNames })
  if (typed.startsWith('-')) return listOptions(command)
  const argument = command.registeredArguments[Math.min(positionals, command.registeredArguments.length - 1)]
  const commands = positionals === 0 ? command.commands : []
  return [
    ...commands.map((sub) => ({ word: sub.name(), description: sub.summary() })),
    ...(argument?.argChoices ?? []).map((word) => ({ word })),
    ...(argument && (positionals < command.registeredArguments.length || argument.variadic)
      ? await listNames(findNameKind(path, argument.name()), { before, bundledNames })
      : []),
  ]
}

/** Follows the words through the subcommands, options and arguments. */
function descend(root: Command, words: string[]) {
  let command = root
  let path = root.name()
  let positionals = 0
  let pending: Option | undefined
  for (const word of words) {
    if (pending) {
      pending = undefined
      continue
    }
    if (word.startsWith('-')) {
      const option = command.options.find(({ long, short }) => word === long || word === short)
      pending = option?.required || option?.optional ? option : undefined
      continue
    }
    const sub = positionals === 0 ? command.commands.find((each) => each.name() === word) : undefined
    if (sub) {
      command = sub
      path = `${path} ${sub.name()}`
    } else positionals++
  }
  return { command, path, positionals, pending }
}

function listOptions({ options }: Command): Suggestion[] {
  const shown = options
    .filter(({ hidden }) => !hidden)
    .map(({ long, description }) => ({ word: long ?? '', description }))
  return [...shown, { word: '--help', description: 'print this help and exit' }]
}

/** Where names come from. */
interface NameSources {
  /** The words before the one that is typed, which may name a server. */
  before: string[]
  bundledNames: BundledNames
}

async function listOptionValues(
  { argChoices, long }: Option,
  path: string,
  sources: NameSources,
): Promise<Suggestion[]> {
  if (argChoices) return argChoices.map((word) => ({ word }))
  return listNames(findNameKind(path, long ?? ''), sources)
}

type NameKind = 'tasks' | 'choices' | 'categories' | 'runs' | 'suites' | 'evals' | 'settings'

/** What an argument or an option takes, by its name and the command. */
function findNameKind(path: string, name: string): NameKind | undefined {
  if (name === 'task') return 'tasks'
  if (name === '--task') return path.startsWith('eval') ? 'choices' : 'tasks'
  if (name === '--category') return 'categories'
  if (name === 'run' || name === '--run') return 'runs'
  if (name === '--suite') return 'suites'
  if (name === 'settings') return 'settings'
  if (name === '--resume') return path === 'eval' ? 'evals' : undefined
  return path.startsWith('eval ') && ['id', 'a', 'b'].includes(name) ? 'evals' : undefined
}

async function listNames(kind: NameKind | undefined, { before, bundledNames }: NameSources): Promise<Suggestion[]> {
  switch (kind) {
    case undefined:
      return []
    case 'tasks':
    case 'choices':
    case 'categories': {
      const tasks =
        (await fetchList(before, '/tasks', 'tasks')) ?? bundledNames.listTasks().map((name) => ({ name, category: '' }))
      const names = tasks.map(
        ({ name, category }): Suggestion => ({ word: String(name), description: String(category) }),
      )
      const categories = [...new Set(tasks.map(({ category }) => String(category)))].filter((name) => name !== '')
      if (kind === 'categories') return categories.map((word) => ({ word }))
      return kind === 'tasks' ? names : [...names, ...categories.map((name) => ({ word: `category:${name}` }))]
    }
    case 'runs':
      return toSuggestions(await fetchList(before, '/runs?sort=activity&limit=200', 'runs'), 'run')
    case 'evals':
      return toSuggestions(await fetchList(before, '/eval', 'evals'), 'id')
    case 'suites':
      return [
        ...bundledNames.listSuites().map(({ name, description }) => ({ word: name, description })),
        { word: 'run' },
        { word: 'frontier' },
      ]
    case 'settings': {
      const { RunSettings } = await import('@reasoning-gym-server/contract/run-settings') // lazy: only one command needs it
      return Object.keys(RunSettings.shape).map((name) => ({ word: `${name}=` }))
    }
  }
}

type Entries = Record<string, unknown>[]

function toSuggestions(entries: Entries | undefined, field: string): Suggestion[] {
  return (entries ?? []).map((entry) => ({ word: String(entry[field]) }))
}

/** Asks the server that the command would call. Undefined if it does not answer soon. */
async function fetchList(before: string[], path: string, list: string): Promise<Entries | undefined> {
  try {
    const config = readClientConfig()
    const given = { url: getOptionValue(before, '--url'), key: getOptionValue(before, '--key') }
    const { url = getLocalUrl(config), key } = getConfiguredServer(given, config)
    return await listEntries(new ApiClient(url, key), path, list, AbortSignal.timeout(SERVER_TIMEOUT_MS))
  } catch {
    return undefined
  }
}

function getOptionValue(words: string[], option: string): string | undefined {
  const at = words.indexOf(option)
  return at < 0 ? undefined : words[at + 1]
}
