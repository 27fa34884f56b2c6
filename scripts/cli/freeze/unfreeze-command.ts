import { type Command, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  EDIT_EXITS,
  EDIT_FLAGS_HELP,
} from '../budget/budget-flags.ts';
import { EDITING_FLAGS, editCommand } from '../budget/edit-command.ts';
import { subjectOfWord } from '../budget/subject-word.ts';

const HELP = `tollgate unfreeze <group | freeze> [flags]

Lifts a freeze: jobs start again.

  <group | freeze>     the group, if it has one freeze; else the freeze's id, from tollgate budget show <group>
  --dry-run            shows what would change and writes nothing
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

export const unfreezeCommandOn = (deps: BudgetDeps): Command => ({
  name: 'unfreeze',
  summary: 'Lifts a freeze: jobs start again',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, EDITING_FLAGS, {
      max: 1,
      what: 'one group, or the id of a freeze',
    });
    const [word] = words;
    if (word === undefined) throw new UsageError('expected a group, or the id of a freeze');
    return editCommand(values, io, deps, async ({ api, directory }) => {
      const exceptions = await answeredInProcess(api.exceptions.$get({ query: {} }));
      const all = exceptions.filter(({ kind }) => kind === 'freeze');
      if (all.some(({ id }) => id === word)) return [{ kind: 'unfreeze', freeze: word }];
      const subject = subjectOfWord(word, directory);
      const [freeze, ...more] = all.filter((each) => each.subject === subject);
      if (freeze === undefined)
        throw new UsageError(`${word}: is not frozen itself; expected a group that is, or a freeze's id`);
      if (more.length > 0)
        throw new UsageError(
          `${word} has several freezes; expected one of ${[freeze, ...more].map(({ id }) => id).join(', ')}`,
        );
      return [{ kind: 'unfreeze', freeze: freeze.id }];
    });
  },
});

export const unfreezeCommand: Command = unfreezeCommandOn(BUDGET_DEPS);
