import type { LimitRequest } from '../../../functions/answers/limits/models.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { edgeText } from '../../../policies/text/edge-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type Command, DocumentError, EXIT, UsageError } from '../../terminal/command.ts';
import {
  choice,
  command,
  print,
  readWhole,
  required,
  severalWords,
  text,
  toggle,
  whole,
  word,
} from '../../terminal/define.ts';
import { printable } from '../../terminal/table.ts';
import { answerOf, readInProcess, type SentEdit } from '../api/answers.ts';
import { withBudget } from '../api/open-api.ts';
import {
  ACTOR_FLAG,
  BUDGET_FLAGS,
  neededLimit,
  parseSubject,
  readActor,
  readAmountWords,
  readDayFlag,
  readReason,
  SUBJECT_HELP,
  subjectText,
} from './arguments.ts';
import { amountDifferenceText } from './change-text.ts';
import { editing } from './edits.ts';

const FROM = text('<day>', 'its first day, or an instant (default: now)', readDayFlag);
const UNTIL = text(
  '<day>',
  'its last day, in full, or an instant: for a grant in the limit’s zone, else in $TOLLGATE_ROLLUP_ZONE (default: UTC)',
  readDayFlag,
);

const budgetGrant = editing({
  name: 'budget grant',
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
  },
  examples: ['tollgate budget grant acme/payments +500 EUR --until 2026-12-31 --reason "release week"'],
  edits: async ({ flags, words: { group, amount: words } }, budget, io) => {
    const { until, ticket, from = `${new Date(io.nowMs()).toISOString().slice(0, 19)}Z` } = flags;
    const reason = readReason(flags.reason);
    const { currency } = budget;
    const subject = parseSubject(group, budget.directory);
    const example = `+200 or +200 ${currency}; --limit says which limit`;
    const { amount, unit, per } = readAmountWords(words, currency, example);
    const wanted = { word: group, id: flags.limit, ...withoutAbsent({ unit, per }) };
    const { id: limit } = await neededLimit(subject, wanted, budget);
    return [
      { kind: 'grant', ...{ subject, limit, amount, from, until, reason }, ...withoutAbsent({ ticket }) },
    ];
  },
});

const budgetRevoke = editing({
  name: 'budget revoke',
  words: { grant: word('<grant>', 'its id, from tollgate budget show <group>') },
  examples: ['tollgate budget revoke g-3f2a --reason "not needed"'],
  edits: ({ words: { grant } }) => [{ kind: 'revoke', grant }],
});

const freeze = editing({
  name: 'freeze',
  about: `Groups below it stop as well. Each stopped job shows the reason.`,
  words: { group: word('<group>', SUBJECT_HELP) },
  flags: { from: FROM, until: UNTIL, owner: text('<name>', 'the contact for stopped developers') },
  examples: ['tollgate freeze acme/payments --until 2026-12-31 --reason "year end"'],
  edits: ({ flags, words: { group } }, { directory }) => {
    const { from, until, owner } = flags;
    const subject = parseSubject(group, directory);
    return [
      { kind: 'freeze', subject, reason: readReason(flags.reason), ...withoutAbsent({ from, until, owner }) },
    ];
  },
});

const unfreeze = editing({
  name: 'unfreeze',
  words: {
    freeze: word(
      '<group | freeze>',
      "the group, if it has one freeze; else the freeze's id, from tollgate budget show <group>",
    ),
  },
  examples: ['tollgate unfreeze acme/payments --reason "closed"'],
  edits: async ({ words: { freeze: given } }, { api, directory }) => {
    const exceptions = await readInProcess(api.exceptions.$get({ query: {} }));
    const all = exceptions.filter(({ kind }) => kind === 'freeze');
    if (all.some(({ id }) => id === given)) return [{ kind: 'unfreeze', freeze: given }];
    const subject = parseSubject(given, directory);
    const [found, ...others] = all.filter((each) => each.subject === subject).map(({ id }) => id);
    if (found === undefined)
      throw new UsageError(`${given}: is not frozen itself; expected a group that is, or a freeze's id`);
    if (others.length > 0)
      throw new UsageError(`${given} has several freezes; expected one of ${[found, ...others].join(', ')}`);
    return [{ kind: 'unfreeze', freeze: found }];
  },
});

const USERS_MAX = 100;
const USER_MAX = 999_999_999_999;

function readUsers(given: string): number[] {
  const users = given.split(',').map((each) => readWhole('users', each.trim(), 1, USER_MAX));
  if (users.length > USERS_MAX)
    throw new UsageError(`--users: has ${users.length}; expected at most ${USERS_MAX}`);
  return users;
}

const breakglass = editing({
  name: 'breakglass',
  about: `They pass limits and freezes, but no security rules. It lasts for at most --jobs jobs and seven days. The jobs are metered, the
owner is notified, and another person reviews it afterwards: tollgate breakglass ls, end and review.`,
  words: {
    group: word('<group>', "instance, a group or a project: a path, GitLab's id of a group, or project/7"),
  },
  flags: {
    users: text('<ids>', "GitLab's user ids: 5,6", readUsers),
    protected: toggle('jobs on protected refs; with --users both must hold'),
    jobs: required(text('<n>', 'the largest number of jobs', whole(1, 10_000))),
    per: choice('<period>', '(default: once, for the whole time) ', ['hour', 'day', 'once']),
    from: FROM,
    until: required(UNTIL),
    ticket: text('<text>', 'e.g. INC-42'),
  },
  examples: [
    'tollgate breakglass acme/payments --users 5,6 --jobs 20 --until 2026-12-01 --reason "incident"',
  ],
  edits: ({ flags, words: { group } }, { directory }) => {
    const { users, jobs, per, from, until, ticket } = flags;
    if (users === undefined && !flags.protected)
      throw new UsageError('--users or --protected: expected one, or it would let all users in');
    const glass: SentEdit = {
      kind: 'breakglass',
      ...{ subject: parseSubject(group, directory), jobs, until, reason: readReason(flags.reason) },
      ...(flags.protected && { protected: true }),
      ...withoutAbsent({ users, per, from, ticket }),
    };
    return [glass];
  },
});

const ID = word('<id>', 'from tollgate breakglass ls');

const breakglassEnd = editing({
  name: 'breakglass end',
  words: { breakglass: ID },
  examples: ['tollgate breakglass end b-9c1d --reason "incident is over"'],
  edits: ({ words }) => [{ kind: 'end-breakglass', breakglass: words.breakglass }],
});

const breakglassReview = editing({
  name: 'breakglass review',
  about: `The reason is the result.`,
  words: { breakglass: ID },
  examples: ['tollgate breakglass review b-9c1d --reason "3 hotfix deployments, as agreed"'],
  edits: ({ flags, words }) => [
    { kind: 'review-breakglass', breakglass: words.breakglass, note: readReason(flags.reason) },
  ],
});

const breakglassLs = command({
  name: 'breakglass ls',
  flags: BUDGET_FLAGS,
  examples: ['tollgate breakglass ls --ledger tollgate-ledger'],
  run: ({ flags }, io) =>
    withBudget(flags, io, async ({ api }) => {
      const breakglasses = await readInProcess(api.breakglass.$get());
      return print(io, flags, { breakglasses }, (screen) => {
        if (breakglasses.length === 0) return 'No glass was broken.\n';
        const titles = ['id', 'state', 'on', 'jobs', 'until', 'by', 'why'];
        const rows = breakglasses.map((glass) => {
          const { id, open, toReview, subject, path, jobs, per, used, untilMs, zone = 'UTC' } = glass;
          const state = open || toReview ? screen.warn(open ? 'open' : 'to review') : 'reviewed';
          const count = `${used} of ${jobs}${per === 'once' ? '' : `/${per}`}`;
          const until = edgeText(untilMs, 'end', zone);
          const texts = [path ?? subject, count, until, glass.by ?? '', glass.reason];
          return [printable(id), state, ...texts.map(printable)];
        });
        return screen.table(titles, rows);
      });
    }),
});

const REQUEST_TITLES = ['id', 'state', 'group', 'limit', 'amount', 'from', 'until', 'by', 'why'];

const budgetRequests = command({
  name: 'budget requests',
  about: `Newest first. They are deleted 30 days after they were filed.`,
  flags: { all: toggle('also those that are decided'), actor: ACTOR_FLAG, ...BUDGET_FLAGS },
  examples: ['tollgate budget requests --all'],
  run: async ({ flags }, io) => {
    const actor = readActor(flags, io);
    return withBudget(flags, io, async ({ apiOf, directory, currency }) => {
      const api = apiOf(actor);
      const found = await readInProcess(api.requests.$get());
      const requests = flags.all ? found : found.filter(({ state }) => state === 'pending');
      return print(io, flags, { requests }, (screen) => {
        if (requests.length === 0) return `${flags.all ? 'There is no request.' : 'No request waits.'}\n`;
        const rows = requests.map((request: LimitRequest) => {
          const { id, state, subject, limit, from = '', until = '', requestedBy, reason } = request;
          const what = requestedText(request, currency);
          const group = subjectText(subject, directory);
          return [id, state, group, limit, what, from, until, requestedBy, reason].map(printable);
        });
        return screen.table(REQUEST_TITLES, rows);
      });
    });
  },
});

const deciding = (verb: 'approve' | 'decline'): Command =>
  command({
    name: `budget ${verb}`,
    about: 'A request is decided by another person than its requester.',
    words: { request: word('<request>', 'its id, from tollgate budget requests') },
    flags: {
      note: text('<text>', verb === 'approve' ? "the approver's note" : 'why not (needed)'),
      actor: ACTOR_FLAG,
      ...BUDGET_FLAGS,
    },
    examples: [`tollgate budget ${verb} r-3f2a --note "as discussed"`],
    exits: { 0: 'decided', 2: 'refused, decided before, or busy' },
    run: async ({ flags, words: { request: id } }, io) => {
      const { note } = flags;
      const json =
        verb === 'decline'
          ? { decision: verb, note: readReason(note, 'note') }
          : { decision: verb, ...withoutAbsent({ note }) };
      const actor = readActor(flags, io);
      return withBudget(flags, io, async ({ apiOf }) => {
        const { requests } = apiOf(actor);
        const answer = await answerOf(requests[':id'].decision.$post({ param: { id }, json }));
        if (!answer.ok) {
          const { error, problems } = answer.refused;
          if (problems !== undefined) throw new DocumentError(problems.map(problemText));
          if (flags.json) io.out(`${JSON.stringify({ outcome: error.code, ...answer.refused })}\n`);
          else io.err(`${id}: ${printable(`${error.message} ${error.remedy}`)}\n`);
          return EXIT.wouldReject;
        }
        const { live, ...request } = answer.body;
        const { state: outcome } = request;
        const where = live ? `; it is live in set ${live.set}, edit ${live.edit}` : '';
        return print(io, flags, { outcome, request, pointer: live }, () => `${id} ${outcome}${where}\n`);
      });
    },
  });

function requestedText({ amount, edit }: LimitRequest, currency: string): string {
  if (edit === undefined) return `+${String(amount).replace(/^\+/, '')}`;
  const row = edit.rows.find(({ field }) => field === 'amount') ?? edit.rows[0];
  if (row === undefined) return `${edit.count} changes`;
  const more = edit.count > 1 ? `, ${edit.count - 1} more` : '';
  const field = row.field === 'amount' ? '' : `${row.field} `;
  return `${field}${amountDifferenceText(row, currency)}${more}`;
}

export const commands = [
  ...[budgetGrant, budgetRevoke, freeze, unfreeze, breakglass, breakglassLs, breakglassEnd, breakglassReview],
  ...[budgetRequests, deciding('approve'), deciding('decline')],
];
