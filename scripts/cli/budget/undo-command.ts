import { type Command, EXIT, UsageError } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { liveSet } from '../api/edit-answer.ts';
import { withBudget } from '../api/open-api.ts';
import { NOTHING_LIVE, setText } from '../limits/set-text.ts';
import { rollupZone } from '../rollup-zone.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  EDIT_EXITS,
  EDIT_FLAGS_HELP,
  readActor,
  readReason,
} from './budget-flags.ts';
import { EDITING_FLAGS, makeEdit } from './edit-command.ts';

const HELP = `tollgate budget undo [<edit>] [flags]

Takes the last edit back: the limits are again what it was an edit of. That is an edit like any other, with the same
rights, in the log, and taken back by another undo. What lets a limit go further waits for somebody else.

  <edit>               its number, from tollgate budget history; refused if another one was made since
                       (default: the last one)
  --dry-run            shows what would change and writes nothing
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

const EDIT_MAX = 999_999_999;
const WHY_CHARACTERS_MAX = 500;

export const undoCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget undo',
  summary: 'Takes the last edit of the limits back',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, EDITING_FLAGS, { max: 1, what: 'the number of one edit' });
    const [word] = words;
    const asked = word === undefined ? undefined : readWhole('edit', word, 1, EDIT_MAX);
    const actor = readActor(values, deps);
    return withBudget(deps.open, values, io, async (budget) => {
      const live = await liveSet(budget.api);
      if (live === undefined) throw new UsageError(NOTHING_LIVE);
      const { set, edit } = live;
      const isOther = values.base !== undefined && values.base !== set;
      if (isOther || (asked !== undefined && asked !== edit)) {
        if (values.json) io.out(`${JSON.stringify({ outcome: 'stale', live })}\n`);
        else
          io.err(
            `Nothing was changed: others edited since, and only the last edit is taken back.\n${setText(live, rollupZone(io), paintWhen(io.colours))}`,
          );
        return EXIT.wouldReject;
      }
      const why =
        values.reason === undefined
          ? `undoes edit ${edit}: ${live.why}`.slice(0, WHY_CHARACTERS_MAX)
          : readReason(values.reason);
      return makeEdit({ edits: [{ kind: 'undo', edit }], actor, why }, { live, set }, values, budget, io);
    });
  },
});

export const undoCommand: Command = undoCommandOn(BUDGET_DEPS);
