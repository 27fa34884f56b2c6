import { edgeText } from '../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { UsageError } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import {
  choice,
  readWhole,
  required,
  severalWords,
  text,
  toggle,
  whole,
  word,
} from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import {
  BUDGET_FLAGS,
  EDIT_EXITS,
  EDIT_FLAGS,
  neededLimit,
  readAmountWords,
  readDayFlag,
  readReason,
  SUBJECT_HELP,
  subjectOfWord,
} from './arguments.ts';
import { editLimits } from './edits.ts';

const FROM = text('<day>', 'its first day, or an instant (default: now)', readDayFlag);
const UNTIL = text(
  '<day>',
  'its last day, or an instant; days are whole, in the time zone of the limits',
  readDayFlag,
);

const budgetGrant = command({
  name: 'budget grant',
  about: `Gives a group more for a time, on top of a limit; grants add up. A large grant waits for the approval of another
person: tollgate budget approve <id>.`,
  words: {
    group: word('<group>', SUBJECT_HELP),
    amount: severalWords('+<amount>', "+200, in the limit's own unit; +200 EUR names it", [1, 2]),
  },
  expects: 'a group and an amount such as +200',
  flags: {
    limit: text('<id>', 'which limit, if there are several: money-month'),
    from: FROM,
    until: required(UNTIL),
    ticket: text('<text>', 'e.g. FIN-123'),
    ...EDIT_FLAGS,
  },
  examples: ['tollgate budget grant acme/payments +500 EUR --until 2026-12-31 --reason "release week"'],
  exits: EDIT_EXITS,
  run: ({ flags, words: { group, amount: amountWords } }, io) => {
    const { until, ticket } = flags;
    const from = flags.from ?? `${new Date(io.nowMs()).toISOString().slice(0, 19)}Z`;
    const reason = readReason(flags.reason);
    return editLimits(flags, io, async (budget) => {
      const { policy, directory } = budget;
      const subject = subjectOfWord(group, directory);
      const example = `+200 or +200 ${policy.currency}; --limit says which limit`;
      const { amount, unit, per } = readAmountWords(amountWords, policy.currency, example);
      const wanted = { word: group, id: flags.limit, ...withoutAbsent({ unit, per }) };
      const { id } = await neededLimit(subject, wanted, budget);
      const grant = { kind: 'grant', subject, limit: id, amount, from, until, reason } as const;
      return [{ ...grant, ...withoutAbsent({ ticket }) }];
    });
  },
});

const budgetRevoke = command({
  name: 'budget revoke',
  about: 'Takes a grant back, from now on.',
  words: { grant: word('<grant>', 'its id, from tollgate budget show <group>') },
  flags: EDIT_FLAGS,
  examples: ['tollgate budget revoke g-3f2a --reason "not needed"'],
  exits: EDIT_EXITS,
  run: ({ flags, words: { grant } }, io) => editLimits(flags, io, () => [{ kind: 'revoke', grant }]),
});

const freeze = command({
  name: 'freeze',
  about: `Stops all jobs of a group and below it from starting, however much is left of its limits; running jobs finish. The reason
stands on the page of every job that is stopped.`,
  words: { group: word('<group>', SUBJECT_HELP) },
  flags: {
    from: FROM,
    until: UNTIL,
    owner: text('<name>', 'whom a stopped developer may ask'),
    ...EDIT_FLAGS,
  },
  examples: ['tollgate freeze acme/payments --until 2026-12-31 --reason "year end"'],
  exits: EDIT_EXITS,
  run: ({ flags, words: { group } }, io) => {
    const { from, until, owner } = flags;
    const reason = readReason(flags.reason);
    return editLimits(flags, io, ({ directory }) => [
      {
        kind: 'freeze',
        subject: subjectOfWord(group, directory),
        reason,
        ...withoutAbsent({ from, until, owner }),
      },
    ]);
  },
});

const unfreeze = command({
  name: 'unfreeze',
  about: 'Lifts a freeze: jobs start again.',
  words: {
    freeze: word(
      '<group | freeze>',
      "the group, if it has one freeze; else the freeze's id, from tollgate budget show <group>",
    ),
  },
  flags: EDIT_FLAGS,
  examples: ['tollgate unfreeze acme/payments --reason "closed"'],
  exits: EDIT_EXITS,
  run: ({ flags, words }, io) =>
    editLimits(flags, io, async ({ api, directory }) => {
      const given = words.freeze;
      const exceptions = await answeredInProcess(api.exceptions.$get({ query: {} }));
      const all = exceptions.filter(({ kind }) => kind === 'freeze');
      if (all.some(({ id }) => id === given)) return [{ kind: 'unfreeze', freeze: given }];
      const subject = subjectOfWord(given, directory);
      const found = all.filter((each) => each.subject === subject).map(({ id }) => id);
      if (found[0] === undefined)
        throw new UsageError(`${given}: is not frozen itself; expected a group that is, or a freeze's id`);
      if (found.length > 1)
        throw new UsageError(`${given} has several freezes; expected one of ${found.join(', ')}`);
      return [{ kind: 'unfreeze', freeze: found[0] }];
    }),
});

const USERS_MAX = 100;
const USER_MAX = 999_999_999_999;

/** @throws {UsageError} */
function readUsers(given: string): number[] {
  const users = given.split(',').map((each) => readWhole('users', each.trim(), 1, USER_MAX));
  if (users.length > USERS_MAX)
    throw new UsageError(`--users: has ${users.length}; expected at most ${USERS_MAX}`);
  return users;
}

const breakglass = command({
  name: 'breakglass',
  about: `Lets jobs of named users, or on protected refs, pass limits and freezes that would stop them, but no security rules. It lasts
for at most --jobs jobs and seven days. The jobs are metered, the owner is notified, and another person reviews it
afterwards: tollgate breakglass ls, end and review.`,
  words: {
    group: word('<group>', "instance, a group or a project: a path, GitLab's id of a group, or project/7"),
  },
  flags: {
    users: text('<ids>', "GitLab's user ids: 5,6", readUsers),
    protected: toggle('jobs on protected refs; with --users both must hold'),
    jobs: required(text('<n>', 'how many jobs at most', whole(1, 10_000))),
    per: choice('<period>', '(default: once, for the whole time) ', ['hour', 'day', 'once']),
    from: FROM,
    until: required(UNTIL),
    ticket: text('<text>', 'e.g. INC-42'),
    ...EDIT_FLAGS,
  },
  examples: [
    'tollgate breakglass acme/payments --users 5,6 --jobs 20 --until 2026-12-01 --reason "incident" --ticket INC-42',
    'tollgate breakglass acme --protected --jobs 50 --per day --until 2026-12-01 --reason "hotfix"',
  ],
  exits: EDIT_EXITS,
  run: ({ flags, words: { group } }, io) => {
    const { users, jobs, per, from, until, ticket } = flags;
    if (users === undefined && !flags.protected)
      throw new UsageError('--users or --protected: expected one of them, or it would let everybody in');
    const parts = {
      kind: 'breakglass' as const,
      ...{ jobs, until, reason: readReason(flags.reason) },
      ...(flags.protected && { protected: true as const }),
      ...withoutAbsent({ users, per, from, ticket }),
    };
    return editLimits(flags, io, ({ directory }) => [{ ...parts, subject: subjectOfWord(group, directory) }]);
  },
});

const ID = word('<id>', 'from tollgate breakglass ls');

const breakglassEnd = command({
  name: 'breakglass end',
  about: 'Ends a break-glass now: it lets no further job in.',
  words: { breakglass: ID },
  flags: EDIT_FLAGS,
  examples: ['tollgate breakglass end b-9c1d --reason "incident is over"'],
  exits: EDIT_EXITS,
  run: ({ flags, words }, io) =>
    editLimits(flags, io, () => [{ kind: 'end-breakglass', breakglass: words.breakglass }]),
});

const breakglassReview = command({
  name: 'breakglass review',
  about: 'Notes that its jobs were reviewed; the reason is the result.',
  words: { breakglass: ID },
  flags: EDIT_FLAGS,
  examples: ['tollgate breakglass review b-9c1d --reason "3 hotfix deployments, as agreed"'],
  exits: EDIT_EXITS,
  run: ({ flags, words }, io) => {
    const note = readReason(flags.reason);
    return editLimits(flags, io, () => [{ kind: 'review-breakglass', breakglass: words.breakglass, note }]);
  },
});

const breakglassLs = command({
  name: 'breakglass ls',
  about:
    'Lists break-glasses: who opened them and why, how many jobs they let in, and which still need a review.',
  flags: BUDGET_FLAGS,
  examples: ['tollgate breakglass ls --ledger tollgate-ledger'],
  exits: { 0: 'listed' },
  run: ({ flags }, io) =>
    withBudget(flags, io, async ({ api }) => {
      const breakglasses = await answeredInProcess(api.breakglass.$get());
      return print(io, flags, { breakglasses }, () => {
        if (breakglasses.length === 0) return 'No glass was broken.\n';
        const paint = paintWhen(io.colours);
        const titles = ['id', 'state', 'on', 'jobs', 'until', 'by', 'why'];
        const rows = breakglasses.map(
          ({ id, open, toReview, subject, path, jobs, per, used, untilMs, zone = 'UTC', by, reason }) => [
            printable(id),
            open ? paint.warn('open') : toReview ? paint.warn('to review') : 'reviewed',
            printable(path ?? subject),
            `${used} of ${jobs}${per === 'once' ? '' : `/${per}`}`,
            edgeText(untilMs, 'end', zone),
            printable(by ?? ''),
            printable(reason),
          ],
        );
        return table(titles, rows, io.columns, paint.dim);
      });
    }),
});

export const commands = [
  ...[budgetGrant, budgetRevoke, freeze, unfreeze],
  ...[breakglass, breakglassLs, breakglassEnd, breakglassReview],
];
