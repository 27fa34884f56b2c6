import { type Command, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  EDIT_EXITS,
  EDIT_FLAGS_HELP,
} from './budget-flags.ts';
import { EDITING_FLAGS, editCommand } from './edit-command.ts';
import { neededLimit } from './pick-limit.ts';
import { SUBJECT_HELP, subjectOfWord } from './subject-word.ts';

const HELP = `tollgate budget remove <group> <limit> [flags]

Takes a limit away: then this level asks nothing, and those above still do. What was counted stays, and counts again if
the limit comes back in the same period.

${SUBJECT_HELP}
  <limit>              its id: money-month
  --dry-run            shows what would change and writes nothing
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

const WORDS = { max: 2, what: 'a group and the id of a limit' };

export const removeCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget remove',
  summary: 'Takes a limit away; those above it still count',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, EDITING_FLAGS, WORDS);
    const [word, id] = words;
    if (word === undefined || id === undefined) throw new UsageError(`expected ${WORDS.what}`);
    return editCommand(values, io, deps, async (budget) => {
      const subject = subjectOfWord(word, budget.directory);
      const limit = await neededLimit(subject, { word, id }, budget);
      return [{ kind: 'remove', subject, limit: limit.id }];
    });
  },
});

export const removeCommand: Command = removeCommandOn(BUDGET_DEPS);
