import { type Command, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
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
    return editCommand(values, io, deps, ({ limits }, { directory }) => {
      const all = [...(limits.freezes?.values() ?? [])].flat();
      const named = all.find(({ id }) => id === word);
      if (named !== undefined)
        return { edits: [{ kind: 'unfreeze', freeze: named.id }], subject: named.subject };
      const subject = subjectOfWord(word, directory);
      const [freeze, ...more] = limits.freezes?.get(subject) ?? [];
      if (freeze === undefined)
        throw new UsageError(`${word}: is not frozen itself; expected a group that is, or a freeze's id`);
      if (more.length > 0)
        throw new UsageError(
          `${word} has several freezes; expected one of ${[freeze, ...more].map(({ id }) => id).join(', ')}`,
        );
      return { edits: [{ kind: 'unfreeze', freeze: freeze.id }], subject };
    });
  },
});

export const unfreezeCommand: Command = unfreezeCommandOn(BUDGET_DEPS);
