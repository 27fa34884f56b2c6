import { type Command, UsageError } from '../../terminal/command.ts';
import { readChoice, readFlags, readWhole } from '../../terminal/flags.ts';
import type { SentEdit } from '../api/edit-answer.ts';
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
import { subjectOfWord } from '../budget/subject-word.ts';

const JOBS_MAX = 10_000;
const USERS_MAX = 100;
const USER_MAX = 999_999_999_999;

const HELP = `tollgate breakglass <group> --jobs <n> --until <instant> --reason <text> (--users <ids> | --protected) [flags]

Lets jobs of named people, or on protected refs, pass limits and freezes that would stop them; never security rules. At
most so many jobs and seven days; they are metered, the owner is told, and somebody has to look at it afterwards:
tollgate breakglass ls, end and review.

  <group>              instance, a group or a project: a path, GitLab's id of a group, or project/7
  --users <ids>        GitLab's user ids: 5,6
  --protected          jobs on protected refs; with --users both must hold
  --jobs <n>           how many jobs at most
  --per <period>       hour, day or once            (default: once, as long as it is open)
  --from <day>         its first day, or an instant (default: now)
  --until <day>        its last day, or an instant  (needed)
                       A day is meant whole, in the time zone of the group's limits.
  --ticket <text>      e.g. INC-42
  --dry-run            shows what would change and writes nothing
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

const FLAGS = {
  users: 'text',
  protected: 'switch',
  jobs: 'text',
  per: 'text',
  from: 'text',
  until: 'text',
  ticket: 'text',
  ...EDITING_FLAGS,
} as const;

export const breakGlassCommandOn = (deps: BudgetDeps): Command => ({
  name: 'breakglass',
  summary: 'Lets jobs of named people or on protected refs pass limits, capped and reviewed',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, FLAGS, { max: 1, what: 'one group' });
    const [word] = words;
    if (word === undefined) throw new UsageError('expected a group, or ls, end or review');
    if (values.jobs === undefined) throw new UsageError('--jobs: expected how many jobs it lets in at most');
    const { until } = values;
    if (until === undefined) throw new UsageError('--until: expected its last day, at most seven days away');
    const users = values.users?.split(',').map((each) => readWhole('users', each.trim(), 1, USER_MAX));
    if (users === undefined && !values.protected)
      throw new UsageError('--users or --protected: expected one of them, or it would let everybody in');
    if (users !== undefined && users.length > USERS_MAX)
      throw new UsageError(`--users: has ${users.length}; expected at most ${USERS_MAX}`);
    const parts: Omit<Extract<SentEdit, { kind: 'breakglass' }>, 'subject'> = {
      kind: 'breakglass',
      jobs: readWhole('jobs', values.jobs, 1, JOBS_MAX),
      until: readDayFlag('until', until),
      reason: readReason(values.reason),
      ...(users !== undefined && { users }),
      ...(values.protected && { protected: true }),
      ...(values.per !== undefined && {
        per: readChoice('per', values.per, ['hour', 'day', 'once'] as const),
      }),
      ...(values.from !== undefined && { from: readDayFlag('from', values.from) }),
      ...(values.ticket !== undefined && { ticket: values.ticket }),
    };
    return editCommand(values, io, deps, ({ directory }) => [
      { ...parts, subject: subjectOfWord(word, directory) },
    ]);
  },
});

export const breakGlassCommand: Command = breakGlassCommandOn(BUDGET_DEPS);
