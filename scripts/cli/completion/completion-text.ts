/** Shell completion from the table of commands. */

/** A command with the flags its help names. */
interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly string[];
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof SHELLS)[number];

/** As they stand in a help text, each once. */
export const flagsInHelp = (help: string): readonly string[] => [
  ...new Set(['--help', '--json', ...(help.match(/--[a-z][a-z-]*[a-z]/g) ?? [])]),
];

export function completionText(shell: Shell, commands: readonly CompletedCommand[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
  }
}

/** Completions after these words: next words of names, or flags of a complete name. Longest names first. */
function steps(
  commands: readonly CompletedCommand[],
): readonly { readonly at: string; readonly next: readonly string[] }[] {
  const next = new Map<string, string[]>();
  for (const { name, flags } of commands) {
    const words = name.split(' ');
    for (const [index, word] of words.entries()) {
      const at = words.slice(0, index).join(' ');
      const known = next.get(at) ?? [];
      if (!known.includes(word)) known.push(word);
      next.set(at, known);
    }
    next.set(name, [...(next.get(name) ?? []), ...flags]);
  }
  return [...next]
    .map(([at, words]) => ({ at, next: at === '' ? [...words, '--help', '--version'] : words }))
    .toSorted((a, b) => b.at.split(' ').length - a.at.split(' ').length || Number(b.at > a.at) - 1);
}

/** Bash and zsh alike: the words so far without flags, then a case for each. */
function cases(commands: readonly CompletedCommand[], reply: (words: string) => string): string {
  const lines = steps(commands)
    .filter(({ at }) => at !== '')
    .map(({ at, next }) => `    '${at}' | '${at} '*) ${reply(next.join(' '))} ;;`);
  const first = steps(commands).find(({ at }) => at === '');
  return [...lines, `    '') ${reply(first?.next.join(' ') ?? '')} ;;`].join('\n');
}

const bash = (
  commands: readonly CompletedCommand[],
): string => `# tollgate completion bash > /etc/bash_completion.d/tollgate
_tollgate() {
  local line='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) line="\${line:+$line }$word" ;; esac
  done
  case "$line" in
${cases(commands, (words) => `words='${words}'`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tollgate tollgate
`;

const zsh = (commands: readonly CompletedCommand[]): string => `#compdef tollgate
# tollgate completion zsh > "\${fpath[1]}/_tollgate"
_tollgate() {
  local line='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) ;; *) line="\${line:+$line }$word" ;; esac
  done
  case "$line" in
${cases(commands, (words) => `compadd -- ${words}`)}
  esac
}
compdef _tollgate tollgate
`;

function fish(commands: readonly CompletedCommand[]): string {
  const lines = steps(commands).flatMap(({ at, next }) =>
    next.map((word) =>
      word.startsWith('--')
        ? `complete -c tollgate -n "__tollgate_is '${at}'" -l ${word.slice(2)}`
        : `complete -c tollgate -f -n "__tollgate_at '${at}'" -a '${word}'`,
    ),
  );
  return `# tollgate completion fish > ~/.config/fish/completions/tollgate.fish
function __tollgate_line
  string match -v -- '-*' (commandline -opc)[2..-1] | string join ' '
end
function __tollgate_at
  test (__tollgate_line | string collect; or echo) = "$argv[1]"
end
function __tollgate_is
  string match -q -- "$argv[1]*" (__tollgate_line | string collect; or echo)
end
${lines.join('\n')}
`;
}
