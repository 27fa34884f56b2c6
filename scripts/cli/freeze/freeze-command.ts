import { type Command, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  EDIT_EXITS,
  EDIT_FLAGS_HELP,
  readReason,
} from '../budget/budget-flags.ts';
import { readDayFlag } from '../budget/day-flag.ts';
import { EDITING_FLAGS, editCommand } from '../budget/edit-command.ts';
import { SUBJECT_HELP, subjectOfWord } from '../budget/subject-word.ts';

const HELP = `tollgate freeze <group> --reason <text> [flags]

No job of the group and below it starts, whatever is left of its limits; jobs that run finish. The reason stands on the
page of every job that is stopped.

${SUBJECT_HELP}
  --from <day>         its first day, or an instant (default: now)
  --until <day>        its last day, or an instant  (default: until tollgate unfreeze)
                       A day is meant whole, in the time zone of the group's limits.
  --owner <name>       whom a stopped developer may ask
  --dry-run            shows what would change, and which jobs of the last 30 days would have failed
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

export const freezeCommandOn = (deps: BudgetDeps): Command => ({
  name: 'freeze',
  summary: 'No job of a group starts until a day, or until it is lifted; running jobs finish',
  help: HELP,
  run: async (args, io) => {
    const flags = { from: 'text', until: 'text', owner: 'text', ...EDITING_FLAGS } as const;
    const { values, words } = readFlags(args, flags, { max: 1, what: 'one group' });
    const [word] = words;
    if (word === undefined) throw new UsageError('expected a group');
    const { from, until, owner } = values;
    const reason = readReason(values.reason);
    return editCommand(values, io, deps, ({ directory }) => {
      const subject = subjectOfWord(word, directory);
      const edges = {
        ...(from !== undefined && { from: readDayFlag('from', from) }),
        ...(until !== undefined && { until: readDayFlag('until', until) }),
      };
      const edit = {
        kind: 'freeze',
        subject,
        reason,
        ...edges,
        ...(owner !== undefined && { owner }),
      } as const;
      return [edit];
    });
  },
});

export const freezeCommand: Command = freezeCommandOn(BUDGET_DEPS);
