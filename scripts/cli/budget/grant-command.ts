import { type Command, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { readAmountWords } from './amount-words.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  EDIT_EXITS,
  EDIT_FLAGS_HELP,
  readReason,
} from './budget-flags.ts';
import { readDayFlag } from './day-flag.ts';
import { EDITING_FLAGS, editCommand } from './edit-command.ts';
import { neededLimit } from './pick-limit.ts';
import { SUBJECT_HELP, subjectOfWord } from './subject-word.ts';

const HELP = `tollgate budget grant <group> +<amount> --until <day> --reason <text> [flags]

More for a time, on top of a limit; grants add up. A large one waits for somebody else: tollgate budget approve <id>.

${SUBJECT_HELP}
  <amount>             +200, in the limit's own unit; +200 EUR names it
  --limit <id>         which limit, where there are several: money-month
  --from <day>         its first day, or an instant (default: now)
  --until <day>        its last day, or an instant (needed)
                       A day is meant whole, in the time zone of the limit.
  --ticket <text>      e.g. FIN-123
  --dry-run            shows what would change and writes nothing
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

const WORDS = { max: 3, what: 'a group and an amount such as +200' };

export const grantCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget grant',
  summary: 'Gives more for a time, on top of a limit; a large grant waits for approval',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(
      args,
      { limit: 'text', from: 'text', until: 'text', ticket: 'text', ...EDITING_FLAGS },
      WORDS,
    );
    const [word, ...amountWords] = words;
    if (word === undefined || amountWords.length === 0) throw new UsageError(`expected ${WORDS.what}`);
    if (values.until === undefined) throw new UsageError('--until: expected the last day, e.g. 2026-12-31');
    const until = readDayFlag('until', values.until);
    const from =
      values.from === undefined
        ? `${new Date(io.nowMs()).toISOString().slice(0, 19)}Z`
        : readDayFlag('from', values.from);
    const { ticket } = values;
    const reason = readReason(values.reason);
    return editCommand(values, io, deps, async (budget) => {
      const { policy, directory } = budget;
      const subject = subjectOfWord(word, directory);
      const { amount, unit, per } = readAmountWords(
        amountWords,
        policy.currency,
        `+200 or +200 ${policy.currency}; --limit says which limit`,
      );
      const { id } = await neededLimit(
        subject,
        { word, id: values.limit, ...(unit && { unit }), ...(per && { per }) },
        budget,
      );
      const grant = { kind: 'grant', subject, limit: id, amount, from, until, reason } as const;
      return [{ ...grant, ...(ticket !== undefined && { ticket }) }];
    });
  },
});

export const grantCommand: Command = grantCommandOn(BUDGET_DEPS);
