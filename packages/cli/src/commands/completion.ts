/** `completion`: prints a script that completes commands, options and names in a shell. The script calls this command for suggestions. */
import { Argument, type Command, Option } from 'commander'
import { CliError } from '../cli-error.ts'
import { CliCommand, type CommandContext } from '../command.ts'
import { print, printLine } from '../output.ts'

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
      const { suggestWords } = await import('../completion-words.ts') // lazy: the scripts do not need it
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
