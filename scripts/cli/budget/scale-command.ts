import { type Command, UsageError } from '../../terminal/command.ts';
import { readChoice, readFlags } from '../../terminal/flags.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  EDIT_EXITS,
  EDIT_FLAGS_HELP,
} from './budget-flags.ts';
import { EDITING_FLAGS, editCommand } from './edit-command.ts';
import { subjectOfWord } from './subject-word.ts';

const UNITS = ['money', 'minutes', 'jobs'] as const;

const HELP = `tollgate budget scale <group> <share> [flags]

Changes all limits of a group and of everything below it by a share of what each has, as one edit. What is unlimited or
0 stays, and so do caps.

  <group>              a full path such as acme/payments, or GitLab's id; also a project, or instance: all there are
  <share>              +8%, -12.5%
  --unit <unit>        ${UNITS.join(', ')}  (default: money)
  --round <step>       to the nearest multiple: 10, 0.5   (default: to the last digit)
  --only               its own limits, without those below it
  --dry-run            shows what would change and writes nothing
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

const WORDS = { max: 2, what: 'a group and a share such as +8%' };

export const scaleCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget scale',
  summary: 'Changes all limits of a group and below it by a share, as one edit',
  help: HELP,
  run: async (args, io) => {
    const flags = { unit: 'text', round: 'text', only: 'switch', ...EDITING_FLAGS } as const;
    const { values, words } = readFlags(args, flags, WORDS);
    const [word, by] = words;
    if (word === undefined || by === undefined) throw new UsageError(`expected ${WORDS.what}`);
    const { unit, round, only } = values;
    return editCommand(values, io, deps, ({ directory }) => [
      {
        kind: 'scale',
        subject: subjectOfWord(word, directory),
        by,
        ...(unit !== undefined && { unit: readChoice('unit', unit, UNITS) }),
        ...(round !== undefined && { round }),
        ...(only && { below: false }),
      },
    ]);
  },
});

export const scaleCommand: Command = scaleCommandOn(BUDGET_DEPS);
