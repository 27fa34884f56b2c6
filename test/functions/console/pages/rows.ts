import type { BurnUpChart, GroupRow, SubjectView } from '../../../../functions/answers/groups/model.ts';
import type { JobExplanation } from '../../../../functions/answers/job/model.ts';
import type { RolloutForecast, RolloutRow } from '../../../../functions/answers/rollout/model.ts';
import type { LimitRow } from '../../../../functions/answers/status/model.ts';
import type { LogEntry } from '../../../../functions/core/limits/edit-model.ts';
import { groupSum } from '../../../../functions/core/usage/sums.ts';

/** 21 Nov 2026, 11:00 in Berlin. */
export const NOW_MS = Date.parse('2026-11-21T10:00:00Z');
export const ZONE = 'Europe/Berlin';
const DAY_MS = 86_400_000;
const EUR = 1_000_000;

const NOVEMBER = {
  key: '2026-11',
  label: 'November 2026',
  startMs: Date.parse('2026-10-31T23:00:00Z'),
  endMs: Date.parse('2026-11-30T23:00:00Z'),
} as const;

export function aLimit(fields: Partial<LimitRow> & { readonly euros?: number } = {}): LimitRow {
  const { euros = 500, ...rest } = fields;
  const amount = rest.amount ?? euros * EUR;
  const settled = rest.settled ?? 0;
  const held = rest.held ?? 0;
  return {
    subject: 'group/101',
    id: 'money-month',
    kind: 'money',
    unit: 'micros',
    amount,
    baseAmount: amount,
    granted: 0,
    carried: 0,
    per: 'month',
    period: NOVEMBER,
    zone: ZONE,
    mode: 'enforce',
    settled,
    held,
    fitted: settled + held,
    ...(typeof amount === 'number' && {
      left: amount - settled - held,
      percent: Math.floor(((settled + held) / amount) * 100),
    }),
    ...(typeof amount === 'number' &&
      !['shadow', 'off'].includes(rest.mode ?? 'enforce') && {
        thresholds: [50, 75, 90, 100].map((percent) => ({
          name: `${percent} %`,
          amount: (amount * percent) / 100,
          reached: settled + held >= (amount * percent) / 100,
        })),
      }),
    inForce: true,
    owner: 'payments-leads',
    contact: 'payments-leads@example.com',
    ...rest,
  };
}

const TESTED = {
  months: 6,
  errorPercent: 7.3,
  insidePercent: 83.3,
  forecasts: [{ month: '2026-10', daysOver: 7, forecast: 700 * EUR, outcome: 640 * EUR }],
};

const NAMES = [
  'platform',
  'payments',
  'checkout',
  'search',
  'mobile',
  'data',
  'infra',
  'identity',
  'billing',
  'maps',
];

/** The n-th of many groups, some of each kind there is. */
export function aGroup(index: number): GroupRow {
  const root = NAMES[index % NAMES.length] ?? 'platform';
  const path =
    index < 10
      ? `acme/${root}`
      : `acme/${root}/team-${index}/${index % 3 === 0 ? 'service-with-a-rather-long-name' : 'core'}`;
  const subject = `group/${100 + index}`;
  const share = Math.max(0, 1.12 - index * 0.031);
  const amount = (200 + (index % 7) * 150) * EUR;
  const settled = Math.round(amount * share * 0.9);
  const held = Math.round(amount * share * 0.1);
  const without = index % 13 === 12;
  return {
    subject,
    groupId: 100 + index,
    path,
    depth: path.split('/').length - 2,
    children: index % 4 === 0 ? 3 + (index % 5) : 0,
    personal: false,
    others: index % 3,
    grants: index % 6 === 1 ? 1 : 0,
    ...(index === 2 && { frozen: { id: 'f1', reason: 'Audit until Friday', zone: 'UTC' } }),
    ...(index % 9 === 0 && { pool: { childrenAmount: amount * 2, children: 4, unlimited: 0, larger: [] } }),
    metered: {
      settledMicros: without ? 12_340_000 : settled,
      heldMicros: without ? 560_000 : held,
      seconds: 72_000,
      jobs: 812,
      sinceDay: '2026-11-01',
    },
    ...(without
      ? {}
      : {
          budget: aLimit({
            subject,
            amount,
            settled,
            held,
            mode: index % 5 === 3 ? 'warn' : index % 5 === 4 ? 'shadow' : 'enforce',
            forecast:
              share >= 1
                ? { outcome: 'used_up', atEndAmount: Math.round(amount * 1.5) }
                : share > 0.6 && NOW_MS + (index + 1) * 20 * 3_600_000 < NOVEMBER.endMs
                  ? {
                      outcome: 'runs_out',
                      atMs: NOW_MS + (index + 1) * 20 * 3_600_000,
                      atEndAmount: Math.round(amount * 1.2),
                    }
                  : { outcome: 'lasts', atEndAmount: Math.round(amount * share * 1.4) },
          }),
        }),
  };
}

const dayOf = (index: number): string =>
  new Date(Date.parse('2026-11-01T00:00:00Z') + index * DAY_MS).toISOString().slice(0, 10);

function aBurnUp(limit: LimitRow): BurnUpChart {
  const total = (limit.settled ?? 0) + (limit.held ?? 0);
  const weight = (index: number): number =>
    index % 7 === 0 || index % 7 === 6 ? 0.25 : 1.1 + (index % 3) * 0.12;
  const all = Array.from({ length: 21 }, (_, index) => weight(index)).reduce((sum, each) => sum + each, 0);
  let together = 0;
  const days = Array.from({ length: 21 }, (_, index) => {
    const used = Math.round((total * weight(index)) / all);
    together += used;
    return { day: dayOf(index), used, total: together };
  });
  const pace = total / 21;
  const ahead = Array.from({ length: 10 }, (_, index) => ({
    day: dayOf(20 + index),
    total: Math.round(together + pace * index * 1.02),
    low: Math.round(together + pace * index * 0.86),
    high: Math.round(together + pace * index * 1.19),
  }));
  return {
    limit: limit.id,
    unit: limit.unit,
    period: NOVEMBER,
    ...(limit.amount !== 'unlimited' && { amount: limit.amount }),
    days,
    ahead,
    unexplained: 0,
  };
}

export const EDITS: readonly LogEntry[] = [
  {
    edit: 42,
    set: 's42',
    atMs: NOW_MS - 3 * DAY_MS,
    actor: 'fiona',
    why: 'Release week needs more end-to-end runs',
    source: 'page',
    count: 1,
    rows: [
      {
        about: 'limit',
        subject: 'group/101',
        path: 'acme/payments',
        limit: 'money-month',
        field: 'amount',
        from: 400 * EUR,
        to: 500 * EUR,
        unit: 'micros',
        effect: 'loosens',
      },
    ],
  },
  {
    edit: 17,
    set: 's17',
    atMs: NOW_MS - 40 * DAY_MS,
    actor: 'finance-bot',
    why: 'Budget of the fourth quarter',
    source: 'file limits-q4.csv',
    count: 2,
    rows: [
      {
        about: 'limit',
        subject: 'group/101',
        path: 'acme/payments',
        limit: 'money-month',
        field: 'amount',
        from: null,
        to: 400 * EUR,
        unit: 'micros',
        effect: 'tightens',
        whole: 'added',
      },
      {
        about: 'limit',
        subject: 'group/101',
        path: 'acme/payments',
        limit: 'money-month',
        field: 'owner',
        from: null,
        to: 'payments-leads',
        effect: 'neutral',
        whole: 'added',
      },
    ],
  },
];

/** A group with one of everything. */
export function aSubject(fields: Partial<SubjectView> = {}): SubjectView {
  const children = [aGroup(11), aGroup(21), aGroup(31)].map((row) => ({ ...row, parentId: 101 }));
  const budget = aLimit({
    euros: 700,
    baseAmount: 500 * EUR,
    granted: 200 * EUR,
    settled: 498_700_000,
    held: 61_300_000,
    softAmount: 400 * EUR,
    reason: 'Agreed with finance for the fourth quarter',
    costCenter: 'CC-4711',
    forecast: {
      outcome: 'runs_out',
      atMs: NOW_MS + 5.2 * DAY_MS,
      atEndAmount: 812 * EUR,
      atEndLow: 771 * EUR,
      atEndHigh: 855 * EUR,
      tested: TESTED,
    },
  });
  const {
    owner: _,
    contact: __,
    ...jobs
  } = aLimit({ id: 'jobs-now', kind: 'jobs', unit: 'jobs', amount: 20, settled: 0, held: 14 });
  const { per: ___, period: ____, ...jobsAtOnce } = jobs;
  return {
    set: 's42',
    currency: 'EUR',
    nowMs: NOW_MS,
    zone: 'Europe/Berlin',
    subject: 'group/101',
    kind: 'group',
    path: 'acme/payments',
    above: [{ subject: 'group/100', path: 'acme' }],
    limits: [
      budget,
      jobsAtOnce,
      aLimit({
        id: 'minutes-month',
        kind: 'minutes',
        unit: 'seconds',
        amount: 900_000,
        settled: 412_200,
        held: 9_000,
        mode: 'shadow',
        forecast: { outcome: 'lasts', atEndAmount: 640_000 },
      }),
    ],
    caps: [],
    limitsAbove: [
      {
        label: 'group acme',
        unit: 'micros',
        amount: 9_000 * EUR,
        left: 4_790 * EUR,
        periodLabel: 'November 2026',
        contact: 'https://chat.example.com/finance',
      },
    ],
    pools: [{ limit: 'money-month', childrenAmount: 900 * EUR, children: 3, unlimited: 0, larger: [] }],
    burnUp: aBurnUp(budget),
    agreements: [
      {
        subject: 'group/101',
        limit: 'money-month',
        unit: 'micros',
        period: '2026-11',
        counterAmount: 560_000_000,
        usageAmount: 560_000_000,
        records: { recountedAtMs: NOW_MS - 9 * 3_600_000, counterBeyond: 0 },
      },
    ],
    usage: {
      fromDay: '2026-11-01',
      toDay: '2026-11-21',
      jobs: 9_102,
      rejected: 37,
      ranRejected: 0,
      unmetered: 4,
      bypass: 1,
      exempt: 12,
      settledMicros: 498_700_000,
      heldMicros: 61_300_000,
      seconds: 412_200,
      topProjects: ['gateway', 'ledger', 'fraud-detection', 'docs'].map((name, index) => ({
        projectId: 900 + index,
        path: `acme/payments/${name}`,
        micros: Math.round((240 * EUR) / (index + 1) ** 2),
      })),
      otherProjectsMicros:
        560_000_000 - [1, 4, 9, 16].reduce((sum, by) => sum + Math.round((240 * EUR) / by), 0),
      topFromDay: '2026-11-01',
      otherClassesMicros: 0,
      topJobs: ['e2e-large', 'build:image', 'unit 3/8', 'lint'].map((job, index) => ({
        projectId: 900,
        path: 'acme/payments/gateway',
        job,
        runs: 90 - index * 11,
        usualSeconds: Math.round(2_900 / (index + 1)),
      })),
      runnerClasses: [],
      rejections: {
        byRule: [
          { rule: 'monthly-budget', kind: 'budget', jobs: 31 },
          { rule: 'slots', kind: 'concurrency', jobs: 6 },
        ],
        watchedByRule: [{ rule: 'images', kind: 'image', jobs: 112 }],
        latest: Array.from({ length: 4 }, (_, index) => ({
          jobId: 4_711 + index,
          decisionId: `d-${4_711 + index}-1`,
          atMs: NOW_MS - (index + 1) * 47 * 60_000,
          projectId: 900,
          projectPath: 'acme/payments/gateway',
          jobName: index % 2 === 0 ? 'e2e-large' : 'build:image',
          url: `https://gitlab.example.com/acme/payments/gateway/-/jobs/${4_711 + index}`,
          reasons: [
            {
              rule: 'monthly-budget',
              code: 'BUDGET_EXHAUSTED',
              text: '1.30 EUR left of 500.00 EUR for November 2026, this job asked for about 2.40 EUR',
            },
          ],
        })),
      },
    },
    grants: [
      {
        id: 'g1',
        limit: 'money-month',
        unit: 'micros',
        amount: 200 * EUR,
        fromMs: NOW_MS - 3 * DAY_MS,
        untilMs: NOW_MS + 4.5 * DAY_MS,
        zone: 'UTC',
        reason: 'Load tests before the launch',
        ticket: 'FIN-12',
        state: 'in_force',
        remainingMs: 4.5 * DAY_MS,
      },
      {
        id: 'g2',
        limit: 'money-month',
        unit: 'micros',
        amount: 50 * EUR,
        fromMs: NOW_MS - 30 * DAY_MS,
        untilMs: NOW_MS - 20 * DAY_MS,
        zone: 'UTC',
        reason: 'Migration',
        state: 'over',
        remainingMs: 0,
      },
    ],
    freezes: [],
    history: { entries: EDITS },
    children,
    childCount: 3,
    childrenSum: groupSum(
      'group/101',
      { settledMicros: 2_498_700_000, heldMicros: 261_300_000, seconds: 412_200, jobs: 9_102 },
      children.map(({ metered }) => metered),
      3,
    ),
    may: {
      tighten: true,
      loosen: true,
      grant: true,
      freeze: true,
      breakGlass: true,
      rollOut: true,
      ask: true,
    },
    ...fields,
  };
}

/** A group nobody knows anything of yet. */
export const AN_EMPTY_SUBJECT: SubjectView = {
  ...(({ burnUp: _, childrenSum: __, ...rest }: SubjectView) => rest)(aSubject()),
  subject: 'group/300',
  path: 'acme/new',
  limits: [],
  caps: [],
  limitsAbove: [],
  pools: [],
  grants: [],
  children: [],
  childCount: 0,
  history: { entries: [] },
  usage: {
    ...aSubject().usage,
    jobs: 0,
    rejected: 0,
    unmetered: 0,
    bypass: 0,
    exempt: 0,
    settledMicros: 0,
    heldMicros: 0,
    seconds: 0,
    topProjects: [],
    topJobs: [],
    rejections: { byRule: [], watchedByRule: [], latest: [] },
  },
};

const TERMS = {
  runnerClass: 'large',
  estimateSeconds: 1_440,
  costMicros: 2_400_000,
  microsPerMinute: 100_000,
  priceVersion: 'p-2026-10',
  policyVersion: 'v3f9a',
};

export const A_REJECTED_JOB: JobExplanation = {
  jobId: 4_711,
  decisionId: 'd-4711-1',
  decidedAtMs: NOW_MS - 47 * 60_000,
  outcome: 'rejected',
  state: 'REJECTED',
  answered: 'ledger',
  flagged: false,
  job: {
    name: 'e2e-large',
    projectPath: 'acme/payments/gateway',
    projectId: 900,
    groupId: 101,
    pipelineId: 88_001,
    url: 'https://gitlab.example.com/acme/payments/gateway/-/jobs/4711',
  },
  currency: 'EUR',
  atDecision: TERMS,
  now: { ...TERMS, outcome: 'admitted', reasons: [] },
  limitsVersionNow: 's42',
  rules: [
    {
      id: 'monthly-budget',
      kind: 'budget',
      mode: 'enforce',
      atDecision: [
        { mode: 'enforce', code: 'BUDGET_EXHAUSTED', text: '1.30 EUR left of 500.00 EUR for November 2026' },
      ],
      now: { outcome: 'matched', violations: [] },
    },
    {
      id: 'images',
      kind: 'image',
      mode: 'shadow',
      atDecision: [],
      now: { outcome: 'not matched', detail: 'only groups under acme/security', violations: [] },
    },
    {
      id: 'overwrites',
      kind: 'overwrites',
      mode: 'enforce',
      atDecision: [],
      whyNot: "needs variables' values, which are never kept",
    },
  ],
  counters: [
    {
      subject: 'group/101',
      label: 'acme/payments',
      limit: 'money-month',
      period: '2026-11',
      unit: 'micros',
      atDecision: {
        jobHeld: 0,
        jobCounts: 0,
        checked: true,
        seen: { committed: 498_700_000, bound: 500 * EUR, left: 1_300_000, asked: 2_400_000 },
      },
      now: {
        ...{ settled: 498_700_000, held: 61_300_000, bound: 700 * EUR, left: 140 * EUR, mode: 'enforce' },
        whenUnreachable: 'room',
      },
    },
  ],
  countersHidden: 1,
  rejection: {
    says: 'CI budget of group acme/payments is used up: 498.70 of 500.00 EUR for November 2026.',
    others: [],
    advice: [],
    renewsAtMs: NOVEMBER.endMs,
    owner: { name: 'payments-leads', contact: 'payments-leads@example.com' },
    classes: [],
  },
  rejectionText:
    'CI budget of group acme/payments is used up: 498.70 of 500.00 EUR for November 2026.\n\n[BUDGET_EXHAUSTED] job "e2e-large" was not started. Nothing is wrong with your code.',
  notRecorded: ['What counters showed that had room: only one that refuses is written down.'],
};

/** The limits are as they were, so it would be rejected again. */
export const A_JOB_THAT_NEEDS_HELP: JobExplanation = {
  ...A_REJECTED_JOB,
  jobId: 4_713,
  decisionId: 'd-4713-1',
  job: { ...A_REJECTED_JOB.job, url: 'https://gitlab.example.com/acme/payments/gateway/-/jobs/4713' },
  now: { ...TERMS, outcome: 'rejected', reasons: [] },
  rejection: {
    says: 'CI budget of group acme/payments has 1.30 of 500.00 EUR left for November 2026, this job needs 2.40 (resets in 10 days).',
    others: [],
    advice: [],
    renewsAtMs: NOVEMBER.endMs,
    owner: { name: 'payments-leads', contact: 'payments-leads@example.com' },
    classes: [
      { runnerClass: 'small', tags: ['linux', 'small'], microsPerMinute: 10_000, costMicros: 400_000 },
      { runnerClass: 'medium', tags: ['linux', 'medium'], microsPerMinute: 30_000, costMicros: 1_200_000 },
    ],
    timeoutSeconds: 21 * 60,
    request: {
      ...{ subject: 'group/101', label: 'acme/payments', limit: 'money-month', unit: 'micros' },
      ...{ amount: '1.10', fromDay: '2026-11-21', untilDay: '2026-11-30' },
    },
  },
};

export const A_RETRIED_JOB: JobExplanation = {
  ...A_JOB_THAT_NEEDS_HELP,
  jobId: 4_715,
  decisionId: 'd-4715-1',
  rejection: {
    says: '20 of 20 jobs of group acme/payments run at once.',
    ...{ others: [], advice: ['It is worth trying again as soon as one of them has ended.'], classes: [] },
    owner: { name: 'payments-leads', contact: 'payments-leads@example.com' },
  },
  retry: {
    ...{ state: 'retried', groupId: 101, retries: 1, retriesMax: 2, withinSeconds: 3_600 },
    ...{ untilMs: NOW_MS + 13 * 60_000, newJobId: 4_716, retriedAtMs: NOW_MS - 12 * 60_000 },
    became: 'admitted',
  },
};

/** It was not yet its turn. */
export const A_JOB_TO_RETRY: JobExplanation = {
  ...A_RETRIED_JOB,
  jobId: 4_717,
  decisionId: 'd-4717-1',
  retry: {
    ...{ state: 'waiting', groupId: 101, retries: 0, retriesMax: 2, withinSeconds: 3_600 },
    untilMs: NOW_MS + 13 * 60_000,
  },
};

const WARN_NEEDS: RolloutRow['classes'][number]['needs'] = [
  { code: 'days', met: true, has: 9, wants: 7 },
  { code: 'report', met: false, has: 1, wants: 2 },
  { code: 'coverage', met: true, has: 99.4, wants: 95 },
  { code: 'would-fail', met: false, has: 7.1, wants: 5 },
];

export function aRolloutRow(index: number, path: string): RolloutRow {
  const subject = index === 0 ? 'instance' : `group/${100 + index}`;
  const counted = { days: 9, jobs: 9_102 - index, coveragePercent: 99.4 };
  const sinceMs = NOW_MS - 12 * 86_400_000;
  return {
    subject,
    path: index === 0 ? 'The whole GitLab' : path,
    classes: [
      index % 3 === 0
        ? {
            class: 'cost',
            step: 'shadow',
            mode: 'shadow',
            from: 'instance',
            fromPath: 'The whole GitLab',
            sinceMs,
            next: 'reported',
            ...counted,
            wouldFail: 37,
            needs: [
              { code: 'days', met: true, has: 9, wants: 7 },
              { code: 'report', met: false, wants: 2 },
            ],
          }
        : {
            class: 'cost',
            step: 'warn',
            mode: 'warn',
            from: subject,
            fromPath: path,
            sinceMs,
            reportedMs: NOW_MS - 86_400_000,
            next: 'enforce',
            ...counted,
            wouldFail: 646,
            needs: WARN_NEEDS,
          },
      { class: 'capacity', step: 'enforce', mode: 'enforce', ...counted, wouldFail: 12, needs: [] },
    ],
    owner: 'payments-leads',
    contact: 'payments-leads@example.com',
  };
}

export const A_ROLLOUT_FORECAST: RolloutForecast = {
  outcome: 'counted',
  days: 7,
  daysCounted: 7,
  fromMs: NOW_MS - 7 * 86_400_000,
  fromDay: '2026-11-15',
  untilMs: NOW_MS,
  complete: true,
  jobsRead: 4_210,
  jobs: 4_210,
  wouldFail: 17,
  rows: [
    {
      group: 'group/101',
      path: 'acme/payments',
      rule: 'monthly-budget',
      limit: 'group/101 money-month',
      limitLabel: 'acme/payments money-month',
      code: 'BUDGET_EXHAUSTED',
      jobs: 17,
      examples: [
        {
          jobId: 4711,
          atMs: NOW_MS - 3_600_000,
          projectPath: 'acme/payments/api',
          url: 'https://gitlab.example.com/acme/payments/api/-/jobs/4711',
        },
        { jobId: 4712, atMs: NOW_MS - 7_200_000 },
      ],
    },
  ],
};
