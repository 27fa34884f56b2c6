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

const HELP = `tollgate budget revoke <grant> [flags]

Takes a grant back, from now on.

  <grant>              its id, from tollgate budget show <group>
  --dry-run            shows what would change and writes nothing
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

export const revokeCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget revoke',
  summary: 'Takes a grant back',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, EDITING_FLAGS, { max: 1, what: 'the id of one grant' });
    const [grant] = words;
    if (grant === undefined)
      throw new UsageError('expected the id of a grant, from tollgate budget show <group>');
    return editCommand(values, io, deps, () => [{ kind: 'revoke', grant }]);
  },
});

export const revokeCommand: Command = revokeCommandOn(BUDGET_DEPS);
