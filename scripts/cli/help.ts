import type { CommandEntry } from '../terminal/command.ts';
import { table } from '../terminal/table.ts';

/** Help without a command. @param family - a first word such as `policy`; '' for all commands. */
export function commandsHelp(commands: readonly CommandEntry[], family = ''): string {
  const shown = family === '' ? commands : commands.filter(({ name }) => name.startsWith(`${family} `));
  const rows = shown.map(({ name, summary }) => [`  ${name}`, summary]);
  return `Tollgate decides, before a GitLab CI job starts, whether its group can afford it and the fleet allows it.

Usage
  tollgate <command> [flags]       tollgate <command> --help says more; tollgate --version which one this is

Commands
${table([{}, {}], rows, Number.POSITIVE_INFINITY)}
Every command takes --json. Colours show on terminals only; NO_COLOR=1 turns them off.
Exit codes: 0 fine, 1 could not be found out, 2 a job would be rejected or a test failed, 3 wrong usage or an invalid document`;
}
