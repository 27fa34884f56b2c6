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
import { EDITING_FLAGS, editCommand } from '../budget/edit-command.ts';

const WORDS = { max: 1, what: 'the id of one break-glass, from tollgate breakglass ls' };

const helpOf = (
  verb: string,
  what: string,
): string => `tollgate breakglass ${verb} <id> --reason <text> [flags]

${what}

  <id>                 from tollgate breakglass ls
  --dry-run            shows what would change and writes nothing
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

export const endCommandOn = (deps: BudgetDeps): Command => ({
  name: 'breakglass end',
  summary: 'Ends a break-glass before its time',
  help: helpOf('end', 'From now on it lets nobody in.'),
  run: async (args, io) => {
    const { values, words } = readFlags(args, EDITING_FLAGS, WORDS);
    const [breakglass] = words;
    if (breakglass === undefined) throw new UsageError(`expected ${WORDS.what}`);
    return editCommand(values, io, deps, () => [{ kind: 'end-breakglass', breakglass }]);
  },
});

export const reviewCommandOn = (deps: BudgetDeps): Command => ({
  name: 'breakglass review',
  summary: 'Notes that somebody has looked at what was done with a break-glass',
  help: helpOf('review', 'Somebody has looked at what was done with it; the reason is what was found.'),
  run: async (args, io) => {
    const { values, words } = readFlags(args, EDITING_FLAGS, WORDS);
    const [breakglass] = words;
    if (breakglass === undefined) throw new UsageError(`expected ${WORDS.what}`);
    const note = readReason(values.reason);
    return editCommand(values, io, deps, () => [{ kind: 'review-breakglass', breakglass, note }]);
  },
});

export const endCommand: Command = endCommandOn(BUDGET_DEPS);
export const reviewCommand: Command = reviewCommandOn(BUDGET_DEPS);
