import { type CommandEntry, UsageError } from '../terminal/command.ts';
import { command, print, word } from '../terminal/define.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

type CompletedCommand = Pick<CommandEntry, 'name'> & { readonly flags: readonly string[] };

export const completionCommands = (entries: readonly CommandEntry[]) => [
  command({
    name: 'completion',
    about: `

  tollgate completion bash > /etc/bash_completion.d/tollgate
  tollgate completion zsh > "\${fpath[1]}/_tollgate"
  tollgate completion fish > ~/.config/fish/completions/tollgate.fish`,
    words: { shell: word(`<${SHELLS.join(' | ')}>`, 'the shell') },
    examples: ['tollgate completion bash'],
    run: async ({ flags, words }, io) => {
      const shell = SHELLS.find((each) => each === words.shell);
      if (shell === undefined)
        throw new UsageError(`"${words.shell}": expected a shell: ${SHELLS.join(', ')}`);
      const commands = await Promise.all(
        entries.map(async ({ name, summary, load }) => {
          const own = Object.keys((await load()).flags).map((each) => `--${each}`);
          return { name, summary, flags: ['--help', '--json', ...own] };
        }),
      );
      return print(io, flags, { commands }, () => COMPLETIONS[shell](commands));
    },
  }),
];

/** Completions after the words of `at`: next words of names, or flags of a complete name. Longest names first. */
function steps(commands: readonly CompletedCommand[]) {
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

const cases = (commands: readonly CompletedCommand[], reply: (words: string) => string): string =>
  steps(commands)
    .map(({ at, next }) => `    '${at}'${at === '' ? '' : ` | '${at} '*`}) ${reply(next.join(' '))} ;;`)
    .join('\n');

const COMPLETIONS: Readonly<
  Record<(typeof SHELLS)[number], (commands: readonly CompletedCommand[]) => string>
> = {
  bash: (commands) => `# tollgate completion bash > /etc/bash_completion.d/tollgate
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
`,
  zsh: (commands) => `#compdef tollgate
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
`,
  fish: (commands) => `# tollgate completion fish > ~/.config/fish/completions/tollgate.fish
function __tollgate_line
  string match -v -- '-*' (commandline -opc)[2..-1] | string join ' '
end
function __tollgate_at
  test (__tollgate_line | string collect; or echo) = "$argv[1]"
end
function __tollgate_is
  string match -q -- "$argv[1]*" (__tollgate_line | string collect; or echo)
end
${steps(commands)
  .flatMap(({ at, next }) =>
    next.map((word) =>
      word.startsWith('--')
        ? `complete -c tollgate -n "__tollgate_is '${at}'" -l ${word.slice(2)}`
        : `complete -c tollgate -f -n "__tollgate_at '${at}'" -a '${word}'`,
    ),
  )
  .join('\n')}
`,
};
