import type { ConsoleReader } from '../../../../functions/answers/create-console-read.ts';
import { bypassRemedy } from '../../../../functions/answers/groups/coverage.ts';
import type { GroupRow, Overview, OverviewQuery } from '../../../../functions/answers/groups/model.ts';
import type { BudgetRow } from '../../../../functions/answers/limits/budgets-model.ts';
import type { PreviewAnswer, RequestRow } from '../../../../functions/answers/limits/edit-models.ts';
import { type Caller, rightsOf, roleNames } from '../../../../functions/answers/reading/context.ts';
import { compareRisks, riskOf } from '../../../../functions/answers/status/risk.ts';
import type { BreakGlassState, LimitRequest } from '../../../../functions/core/limits/edit-model.ts';
import { sealed } from '../../../../functions/core/statements/closed-statement.ts';
import { ROLLOUT_DEFAULTS } from '../../../../policies/rollout-step.ts';
import { aClosedStatement } from '../../../support/statements/closed-months.ts';
import type { FakeDesk } from './fake-desk.ts';
import { spendAnswer } from './fake-report.ts';
import {
  A_JOB_THAT_NEEDS_HELP,
  A_JOB_TO_RETRY,
  A_REJECTED_JOB,
  A_RETRIED_JOB,
  A_ROLLOUT_FORECAST,
  AN_EMPTY_SUBJECT,
  aGroup,
  aLimit,
  aRolloutRow,
  aSubject,
  EDITS,
  NOW_MS,
} from './rows.ts';

const DAY_MS = 86_400_000;

/** How much there is to see. */
export type Amount = 'empty' | 'full';

const COUNT = 10_000;

export function fakeRead(amount: Amount, desk: FakeDesk): ConsoleReader {
  const groups = (amount === 'empty' ? [] : Array.from({ length: COUNT }, (_, index) => aGroup(index))).sort(
    (a, b) => compareRisks(riskOf(a.budget), riskOf(b.budget)),
  );
  return {
    async me(viewer) {
      const rights = rightsOf(viewer.roles);
      return {
        id: viewer.id,
        username: viewer.username,
        name: viewer.name,
        rights,
        roles: roleNames(rights),
        seesAll: viewer.roles.admin || viewer.roles.finance,
        groups: viewer.roles.viewerGroupIds.map((id) => ({
          id,
          path: `acme/group-${id}`,
          role: viewer.roles.ownedGroupIds.includes(id) ? ('owner' as const) : ('viewer' as const),
        })),
        currency: 'EUR',
        waiting: amount === 'empty' ? 0 : 1,
      };
    },
    async check() {
      return { outcome: 'unknown' };
    },
    async overview(asked, viewer) {
      return overviewOf(groups, asked, viewer);
    },
    async closedMonths(group) {
      if (amount === 'empty') return { group: 'instance', statements: [] };
      const subject = group === 'instance' ? 'instance' : `group/${group}`;
      const months = ['2026-08', '2026-09', '2026-10'].map((month, index) =>
        sealed(aClosedStatement(index + 1, subject, month, '')),
      );
      return {
        group: group === 'instance' ? group : 'acme/payments',
        statements: months.map(({ statement, sha256 }) => ({ ...statement, sha256 })),
      };
    },
    async statementNumbers() {
      return undefined;
    },
    async deployedPrices() {
      return undefined;
    },
    async lastStatements() {
      if (amount === 'empty') return [];
      const rows = [
        { subject: 'group/101', group: 'acme/payments' },
        { subject: 'instance' },
        { subject: 'group/399' },
      ];
      return rows.map((row, index) => ({ ...row, number: 9 - index, month: '2026-10', sha256: 'ab' }));
    },
    async reconciliation() {
      const text = 'Counters = usage = statements, checked 21 Nov 2026 02:23 UTC.';
      return { state: 'agrees', checkedAtMs: NOW_MS, differing: [], unlisted: 0, text };
    },
    async budgets({ search, cursor, max = 50 }, viewer) {
      const from = Number(cursor ?? 0);
      const all = budgetRows(overviewOf(groups, { max: COUNT }, viewer).rows).filter(
        ({ path }) => search === undefined || path.includes(search),
      );
      return {
        set: 's42',
        currency: 'EUR',
        nowMs: NOW_MS,
        rows: all.slice(from, from + max),
        total: all.length,
        first: all.length === 0 ? 0 : from + 1,
        ...(from + max < all.length && { next: String(from + max) }),
        ...(from > 0 && { previous: String(Math.max(0, from - max)) }),
        refusing: 0,
        ...(all.length > 0 ? { usedUp: 4, runsOut: 9 } : { usedUp: 0, runsOut: 0 }),
        forecastMax: 400,
      };
    },
    async ownLimits() {
      return [];
    },
    async exceptions() {
      return [];
    },
    async subject(subject, _asked, viewer) {
      if (amount === 'empty') return subject === 'group/300' ? AN_EMPTY_SUBJECT : undefined;
      const { finance, admin, ownedGroupIds, viewerGroupIds } = viewer.roles;
      const strong = finance || admin;
      if (!strong && !['group/101', 'group/300', 'project/900'].includes(subject)) return undefined;
      if (!strong && viewerGroupIds.length === 0) return undefined;
      const owns = ownedGroupIds.includes(101);
      const may = {
        tighten: strong || owns,
        loosen: strong || owns,
        grant: strong,
        freeze: strong || owns,
        breakGlass: strong,
        rollOut: strong,
        ask: true,
      };
      if (subject === 'group/300') return { ...AN_EMPTY_SUBJECT, set: desk.set(), may };
      if (subject === 'instance')
        return aSubject({
          set: desk.set(),
          subject,
          kind: 'instance',
          path: 'The whole GitLab',
          above: [],
          may,
        });
      if (!/^(group\/\d+|project\/900)$/.test(subject)) return undefined;
      const view = aSubject({
        set: desk.set(),
        subject,
        kind: subject.startsWith('group') ? 'group' : 'project',
        may,
      });
      const frozen = subject === 'group/102';
      return {
        ...view,
        ...(subject !== 'group/101' && { path: aGroup(Number(subject.split('/')[1]) - 100).path }),
        freezes: frozen
          ? [
              {
                id: 'f1',
                reason: 'Audit until Friday',
                untilMs: NOW_MS + 6 * DAY_MS,
                owner: 'fiona',
                zone: 'UTC',
              },
            ]
          : [],
        limits: view.limits.map((limit) => ({ ...limit, subject })),
      };
    },
    async job(word) {
      if (word === '4711' || word === 'd-4711-1') return { outcome: 'found', explanation: A_REJECTED_JOB };
      if (word === '4715') return { outcome: 'found', explanation: A_RETRIED_JOB };
      if (word === '4717') return { outcome: 'found', explanation: A_JOB_TO_RETRY };
      if (word === '4713') return { outcome: 'found', explanation: A_JOB_THAT_NEEDS_HELP };
      if (!/^(d-)?\d/.test(word))
        return {
          outcome: 'unreadable',
          sentence: `“${word}” is no job id, no decision id and no address of a job.`,
        };
      return { outcome: 'unknown', sentence: `There is no record of job ${word} that you may see.` };
    },
    async statement() {
      return { outcome: 'unknown_group' };
    },
    async shadow() {
      const rows =
        amount === 'empty'
          ? []
          : Array.from({ length: 40 }, (_, index) => ({
              subject: `group/${100 + index}`,
              path: aGroup(index).path,
              jobs: 9_102 - index,
              ranRejected: 0,
              ranRejectedBy: [],
              wouldFail:
                index % 4 === 3
                  ? []
                  : [
                      { rule: 'monthly-budget', kind: 'budget' as const, jobs: 37 },
                      { rule: 'images', kind: 'image' as const, jobs: 4 },
                    ],
              limits: [
                { limit: aLimit({ mode: 'shadow', settled: 510_000_000 }), refusedAmount: 18_400_000 },
              ],
              owner: 'payments-leads',
              ...(index !== 1 && { contact: 'payments-leads@example.com' }),
            }));
      return {
        currency: 'EUR',
        nowMs: NOW_MS,
        fromDay: '2026-11-08',
        toDay: '2026-11-21',
        rows,
        total: rows.length,
      };
    },
    async rollout({ subjects }) {
      const rows =
        amount === 'empty'
          ? []
          : Array.from({ length: 40 }, (_, index) => aRolloutRow(index, aGroup(index).path));
      const shown = subjects === undefined ? rows : rows.filter(({ subject }) => subjects.includes(subject));
      return {
        set: 'set-1',
        nowMs: NOW_MS,
        fromDay: '2026-10-25',
        toDay: '2026-11-21',
        needs: ROLLOUT_DEFAULTS,
        rows: shown,
        total: shown.length,
      };
    },
    async rolloutForecast(subjects) {
      if (amount === 'empty') return { outcome: 'unknown_subject', subject: subjects[0] ?? '' };
      return { ...A_ROLLOUT_FORECAST };
    },
    async spend(asked) {
      return spendAnswer(asked, amount === 'empty' ? 0 : 60);
    },
    async spendList() {
      return { outcome: 'unknown_group' };
    },
    async coverage({ days = 7, group, max = 100 }) {
      const rows = amount === 'empty' ? 0 : 60;
      const runners = Array.from({ length: Math.min(max, rows) }, (_, index) => {
        const counts = { ran: 4_120 - index, asked: index > 40 ? 4_000 - index : 0 };
        const bypass = counts.ran - counts.asked;
        const detail = {
          ...(index % 2 === 0 && { description: `linux-large-${index}` }),
          ...(index % 4 === 0 && { version: '18.10.2' }),
        };
        const runner = { runnerId: 41 + index, ...counts, bypass, share: counts.asked / counts.ran };
        const told = bypassRemedy(runner, detail);
        return { ...runner, ...detail, ...told, lastBypassDay: '2026-11-21' };
      });
      const all = { ran: 128_400, asked: 119_731, bypass: 8_669, share: 119_731 / 128_400 };
      const none = { ran: 0, asked: 0, bypass: 0 };
      return {
        path: group === undefined ? 'The whole GitLab' : `acme/group-${group}`,
        fromDay: days === 1 ? '2026-11-21' : '2026-11-15',
        toDay: '2026-11-21',
        total: {
          ...(rows === 0 ? none : { ...all, lastBypassDay: '2026-11-21' }),
          ranRejected: rows === 0 ? 0 : 12,
        },
        groups: Array.from({ length: rows }, (_, index) => ({
          subject: `group/${100 + index}`,
          path: aGroup(index).path,
          ...all,
          ranRejected: 0,
        })),
        otherGroups: none,
        runners,
        runnersTotal: rows,
        runnersBypassing: rows,
        unknownRunner: rows === 0 ? none : { ran: 40, asked: 38, bypass: 2 },
        otherRunners: none,
      };
    },
    async backtest(edits, _base, _viewer, cursor) {
      const subjects = edits.flatMap((edit) => ('subject' in edit ? [edit.subject] : []));
      const figures = { jobs: 12_030, wouldFail: 41, wouldFailNow: 3, failed: 2, unasked: 0 };
      return {
        outcome: 'counted',
        set: desk.set(),
        days: 30,
        fromMs: Date.parse('2026-10-22T23:00:00Z'),
        fromDay: '2026-10-23',
        ...(cursor === undefined
          ? { daysCounted: 9, untilMs: Date.parse('2026-11-01T00:00:00Z'), complete: false, next: 'c1' }
          : { daysCounted: 30, untilMs: NOW_MS, complete: true }),
        all: figures,
        subjects: subjects.map((subject) => ({ subject, path: 'acme/payments', ...figures })),
        jobsRead: cursor === undefined ? 20_000 : 31_000,
      };
    },
    async preview(edits, base, _viewer): Promise<PreviewAnswer> {
      const preview = await desk.preview(edits, base);
      if (preview.outcome === 'invalid') return { ...preview, set: desk.set() };
      const { document: _, limits: __, ...rest } = preview;
      const amountRow = rest.rows.find(({ field }) => field === 'amount');
      const after = typeof amountRow?.to === 'number' ? amountRow.to : undefined;
      return {
        ...rest,
        set: desk.set(),
        effects:
          after === undefined
            ? []
            : [
                {
                  subject: 'group/101',
                  path: 'acme/payments',
                  limit: 'money-month',
                  before: aLimit({ settled: 498_700_000, held: 1_300_000, forecast: { outcome: 'used_up' } }),
                  after: aLimit({
                    amount: after,
                    settled: 498_700_000,
                    held: 1_300_000,
                    forecast: { outcome: 'runs_out', atMs: NOW_MS + 6.3 * DAY_MS, atEndAmount: 760_000_000 },
                  }),
                },
              ],
      };
    },
    async usage() {
      return undefined;
    },
    async sight(viewer) {
      const { finance, admin } = viewer.roles;
      return (subject) => finance || admin || subject === 'group/101';
    },
    limitFigures: async () => new Map(),
    async history() {
      return { entries: amount === 'empty' ? [] : EDITS };
    },
    async edit(edit) {
      return EDITS.find((entry) => entry.edit === edit);
    },
    async requests(viewer) {
      return (await desk.requests({ rights: rightsOf(viewer.roles), actor: viewer.username })).map(
        (request) => requestRow(request, viewer),
      );
    },
    async waiting(viewer) {
      return (await this.requests(viewer)).filter(({ mayDecide }) => mayDecide).length;
    },
    async breakGlasses() {
      return amount === 'empty' ? [] : GLASSES;
    },
  };
}

/** One of each kind of subject and unit among the groups'. */
function budgetRows(groups: readonly GroupRow[]): readonly BudgetRow[] {
  const rows = groups.flatMap(({ budget, path }): readonly BudgetRow[] =>
    budget === undefined ? [] : [{ ...budget, path, canRunOut: true, addressee: 'payments-leads' }],
  );
  const {
    per: _,
    period: __,
    ...atOnce
  } = aLimit({ id: 'jobs-now', kind: 'jobs', unit: 'jobs', amount: 20 });
  const others: readonly BudgetRow[] =
    rows.length < 20
      ? []
      : [
          {
            ...atOnce,
            ...{
              subject: 'runner-class/gpu',
              addressee: 'finance',
              path: 'gpu',
              canRunOut: false,
              held: 20,
              left: 0,
              percent: 100,
            },
          },
          {
            ...aLimit({ subject: 'user/5', settled: 431_000_000 }),
            path: 'anna',
            addressee: 'finance',
            canRunOut: true,
          },
          {
            ...aLimit({ subject: 'project/900', euros: 80, mode: 'warn' }),
            path: 'acme/payments/api',
            addressee: 'payments-leads',
            canRunOut: true,
          },
          {
            ...{ ...aLimit({ subject: 'group/101/each/pipeline', euros: 12 }), each: 'pipeline' as const },
            ...{ path: 'acme/payments: each pipeline', addressee: 'finance', canRunOut: true },
          },
        ];
  return [...rows.slice(0, 6), ...others, ...rows.slice(6)];
}

function overviewOf(groups: readonly GroupRow[], asked: OverviewQuery, viewer: Caller): Overview {
  const { search, mine, cursor, max = 50 } = asked;
  const strong = viewer.roles.admin || viewer.roles.finance;
  const found = groups.filter(
    ({ path, groupId = 0 }) =>
      (search === undefined || path.includes(search)) &&
      (strong || viewer.roles.viewerGroupIds.includes(groupId)) &&
      (mine !== true || viewer.roles.ownedGroupIds.includes(groupId)),
  );
  const from = Number(cursor ?? 0);
  return {
    set: 's42',
    currency: 'EUR',
    nowMs: NOW_MS,
    orderedAtMs: NOW_MS,
    directoryAtMs: NOW_MS - 120_000,
    rows: found.slice(from, from + max),
    total: found.length,
    others: 0,
    first: from + 1,
    unranked: 0,
    ...(from + max < found.length && { next: String(from + max) }),
    ...(from > 0 && { previous: String(Math.max(0, from - max)) }),
    ...(strong &&
      groups.length > 0 && {
        instance: {
          ...aGroup(5),
          subject: 'instance',
          path: 'The whole GitLab',
          budget: aLimit({
            euros: 90_000,
            settled: 51_204_330_000,
            held: 1_920_110_000,
            forecast: { outcome: 'lasts' as const, atEndAmount: 79_000_000_000 },
          }),
        },
      }),
  };
}

const requestRow = (request: LimitRequest, viewer: Caller): RequestRow => ({
  ...request,
  path: 'acme/payments',
  limitNow: aLimit({ settled: 498_700_000, held: 1_300_000 }),
  mayDecide:
    request.state === 'pending' &&
    request.requestedBy !== viewer.username &&
    (viewer.roles.finance || viewer.roles.admin),
  own: request.requestedBy === viewer.username,
});

const GLASSES: readonly BreakGlassState[] = [
  {
    id: 'b1',
    subject: 'group/101',
    path: 'acme/payments',
    users: [7, 9],
    protected: true,
    jobs: 10,
    per: 'once',
    used: 3,
    fromMs: NOW_MS - 3_600_000,
    untilMs: NOW_MS + 20 * 3_600_000,
    reason: 'Hotfix of the payment outage',
    ticket: 'INC-88',
    by: 'fiona',
    open: true,
    toReview: true,
  },
  {
    id: 'b0',
    subject: 'instance',
    users: [],
    protected: true,
    jobs: 50,
    per: 'day',
    used: 12,
    fromMs: NOW_MS - 12 * DAY_MS,
    untilMs: NOW_MS - 11 * DAY_MS,
    reason: 'Rollback of the base image',
    by: 'ada',
    open: false,
    toReview: false,
    reviewedBy: 'fiona',
    note: 'Used for nothing else.',
  },
];
