import { type Command, type CommandEntry, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';

const HELP = `tollgate man [flags]

Prints the manual page, made from the commands there are and their help texts.

  tollgate man > tollgate.1 && man -l tollgate.1

  --json               the page as one JSON object

Exit codes: 0 told, 3 wrong usage`;

/** @param entries - all commands there are. */
export const manCommandOf = (entries: readonly CommandEntry[]): Command => ({
  name: 'man',
  summary: 'Prints the manual page of all commands',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, {});
    const sections = await Promise.all(
      entries.map(async ({ name, summary, load }) => {
        const { help } = await load();
        return `.SS ${roff(name)}\n${roff(summary)}\n.PP\n.nf\n${roff(help)}\n.fi`;
      }),
    );
    const page = `.TH TOLLGATE 1
.SH NAME
tollgate \\- admission control for GitLab CI
.SH SYNOPSIS
.B tollgate
<command> [flags]
.SH COMMANDS
${sections.join('\n')}
`;
    io.out(values.json ? `${JSON.stringify({ page })}\n` : page);
    return EXIT.ok;
  },
});

/** Text as it is: no backslash escapes, no hyphen breaks, and no line begins a request. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
