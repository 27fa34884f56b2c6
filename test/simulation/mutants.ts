/** Products that are wrong in one thing each. A month must notice every one of them. */
import type { Rules } from '../../functions/core/admission/judge.ts';
import type {
  HoldRequest,
  JobRecord,
  JobState,
  Ledger,
  WaitAsk,
} from '../../functions/core/ledger/ledger.ts';
import type { RollupStore } from '../../functions/core/usage/rollup-store.ts';
import type { LimitClaim } from '../../policies/claim.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import { pricesAt } from '../../policies/price.ts';
import { ruleIndexOf } from '../../policies/rule-index.ts';
import { WaitQueue, type WaitQueueOptions } from '../../relay/wait-queue.ts';
import { ZONE_OF_LATE_DAYS } from './month/shape.ts';
import { but, type Parts } from './parts.ts';
import type { EstimateBasis } from './rulebook/asked-claims.ts';

const asking = (change: (ask: HoldRequest) => HoldRequest): Partial<Parts> => ({
  ledger: (ledger) => ({
    ...ledger,
    hold: (asks, deadlineMs, options) => ledger.hold(asks.map(change), deadlineMs, options),
  }),
});

/** The function takes something else of a job that may wait than the relay says. */
const waiting = (change: (wait: WaitAsk) => Partial<WaitAsk>): Partial<Parts> =>
  asking((ask) => (ask.wait === undefined ? ask : { ...ask, wait: { ...ask.wait, ...change(ask.wait) } }));

const claims = (ask: HoldRequest, change: (claim: LimitClaim) => readonly LimitClaim[]): HoldRequest => ({
  ...ask,
  claims: ask.claims.flatMap(change),
});

const changed = (claim: LimitClaim, change: Partial<LimitClaim>): LimitClaim => ({
  ...claim,
  refusal: (seen) => claim.refusal(seen),
  ...change,
});

/** Records in a state are read as others than were written. */
function remembering(change: (record: JobRecord) => JobRecord, state: JobState): Partial<Parts> {
  const read = (record: JobRecord | undefined) => (record?.state === state ? change(record) : record);
  return {
    table: (table) =>
      but(table, {
        readRecords: async (jobIds, options) => (await table.readRecords(jobIds, options)).map(read),
        transact: async (writes, options) => {
          const result = await table.transact(writes, options);
          if (result.outcome !== 'refused') return result;
          const refusals = result.refusals.map((refusal) => {
            if (refusal?.kind !== 'record' || refusal.record === undefined) return refusal;
            return { ...refusal, record: read(refusal.record) ?? refusal.record };
          });
          return { ...result, refusals };
        },
      }),
  };
}

const withLimits = (rules: Rules, change: (limit: Limit) => Limit): Rules => ({
  ...rules,
  limits: {
    ...rules.limits,
    bySubject: new Map([...rules.limits.bySubject].map(([subject, all]) => [subject, all.map(change)])),
  },
});

function withoutExemptions(rules: Rules): Rules {
  const asked = rules.policy.rules.map((rule) => ({ ...rule, exempt: [] }));
  return { ...rules, policy: { ...rules.policy, rules: asked, ruleIndex: ruleIndexOf(asked) } };
}

function onPresentParents(record: JobRecord, { directory }: Rules): JobRecord {
  const { groupId, groupIds = [] } = record.facts;
  const present = directory?.chainById.get(groupId ?? 0) ?? [];
  const subjects = new Map(groupIds.map((id, index) => [`group/${id}`, `group/${present[index]?.id ?? id}`]));
  const moved = record.claims.map((claim) => {
    const subject = subjects.get(claim.counter.subject) ?? claim.counter.subject;
    return { ...claim, counter: { ...claim.counter, subject } };
  });
  return { ...record, claims: moved };
}

const otherLedger = (change: (ledger: Ledger) => Partial<Ledger>): Partial<Parts> => ({
  ledger: (ledger) => ({ ...ledger, ...change(ledger) }),
});

const otherRollup = (change: (table: RollupStore) => Partial<RollupStore>): Partial<Parts> => ({
  rollupTable: (table) => but(table, change(table)),
});

const otherQueue = (change: (options: WaitQueueOptions) => WaitQueueOptions): Partial<Parts> => ({
  waiting: (options) => new WaitQueue(change(options)),
});

function holdsByRulesOfNow(change: (record: JobRecord, rules: Rules, nowMs: number) => JobRecord) {
  let rules: Rules | undefined;
  let nowMs = () => 0;
  return {
    ...remembering((record) => (rules === undefined ? record : change(record, rules, nowMs())), 'HELD'),
    rules: (current: Rules) => {
      rules = current;
      return current;
    },
    ledger: (ledger: Ledger, clock: { nowMs(): number }) => {
      nowMs = () => clock.nowMs();
      return ledger;
    },
  };
}

function atPricesOfNow(record: JobRecord, { policy }: Rules, nowMs: number): JobRecord {
  const prices = pricesAt(policy.prices, nowMs);
  const price = prices?.classes.find(({ name }) => name === record.facts.runnerClass);
  if (price === undefined) return record;
  return { ...record, facts: { ...record.facts, microsPerMinute: price.microsPerMinute } };
}

function firstLimitsForEver(): Partial<Parts> {
  let first: Rules | undefined;
  return {
    rules: (rules) => {
      first ??= rules;
      return { ...rules, limits: first.limits };
    },
  };
}

export interface Mutant {
  readonly fault: string;
  readonly parts: () => Partial<Parts>;
  readonly estimate?: EstimateBasis;
  /** It shows only once these days are over. */
  readonly days?: number;
  /** Some need a month with requests while the table is silent, or one in which many jobs wait. @default any */
  readonly month?: 'any' | 'silent' | 'waiting' | 'overtaken';
}

const MINUTE_MS = 60_000;
const mutant = (
  fault: string,
  parts: Mutant['parts'],
  more: Pick<Mutant, 'estimate' | 'days' | 'month'> = {},
): Mutant => ({ fault, parts, ...more });
const WAITING = { month: 'waiting' } as const;
const ROLLED_UP = { estimate: 'history', days: 3 } as const;

export const MUTANTS: readonly Mutant[] = [
  mutant('concurrent jobs are not counted', () =>
    asking((ask) => claims(ask, (claim) => (claim.unit === 'jobs' ? [] : [claim]))),
  ),
  mutant('a rejection is never repeated', () =>
    remembering((record) => ({ ...record, decidedAtMs: record.decidedAtMs - MINUTE_MS }), 'REJECTED'),
  ),
  mutant('a rejection stands for two minutes', () =>
    remembering((record) => ({ ...record, decidedAtMs: record.decidedAtMs + MINUTE_MS }), 'REJECTED'),
  ),
  mutant('a job settles at the prices of its end', () => holdsByRulesOfNow(atPricesOfNow)),
  mutant('a day ends when it did before the clocks changed', () => ({
    rules: (rules) =>
      withLimits(rules, (limit) => (limit.zone === ZONE_OF_LATE_DAYS ? { ...limit, zone: '-07:00' } : limit)),
  })),
  mutant('a fiscal year is a calendar year', () => ({
    rules: (rules) => withLimits(rules, ({ fiscalStart: _, ...limit }) => limit),
  })),
  mutant('a shadow limit rejects', () =>
    asking((ask) => ({
      ...claims(ask, (claim) => [changed(claim, { mode: 'enforce' })]),
      violations: ask.violations.map((violation) => ({ ...violation, mode: 'enforce' as const })),
    })),
  ),
  mutant('an exempt job is asked like any other', () => ({ rules: withoutExemptions })),
  mutant('an exempt job is not metered', () =>
    asking((ask) =>
      ask.unchecked === 'exempt' ? claims(ask, (claim) => (claim.bound === undefined ? [] : [claim])) : ask,
    ),
  ),
  mutant('a job settles on the counters of its present groups', () => holdsByRulesOfNow(onPresentParents)),
  mutant('edits of limits are never read', firstLimitsForEver),
  mutant('grants count for nothing', () => ({
    rules: (rules) => withLimits(rules, ({ grants: _, ...limit }) => limit),
  })),
  mutant('one more than the limit fits', () =>
    asking((ask) =>
      claims(ask, (claim) => [
        claim.bound === undefined ? claim : changed(claim, { bound: claim.bound + 1 }),
      ]),
    ),
  ),
  mutant('begun seconds are free', () =>
    otherLedger(({ settle }) => ({
      settle: (ends) =>
        settle(ends.map((end) => ({ ...end, durationSeconds: Math.floor(end.durationSeconds) }))),
    })),
  ),
  mutant(
    'jobs that the fallback admitted are free',
    () =>
      otherLedger(({ recordUnmetered }) => ({
        recordUnmetered: (asks, deadlineMs) =>
          recordUnmetered(
            asks.map((ask) => ({ ...ask, claims: [] })),
            deadlineMs,
          ),
      })),
    { month: 'silent' },
  ),
  mutant('no job waits', () => asking(({ wait: _, ...ask }) => ask), WAITING),
  mutant(
    'every limit lets jobs wait',
    () =>
      asking((ask) => claims(ask, (claim) => [claim.waitMs ? claim : changed(claim, { waitMs: 20_000 })])),
    WAITING,
  ),
  mutant('a new job takes what earlier jobs wait for', () => waiting(() => ({ behind: new Set() })), {
    month: 'overtaken',
  }),
  mutant('the time that a job has waited is forgotten', () => waiting(() => ({ waitedMs: 0 })), WAITING),
  mutant('a job waits on after its last request', () => waiting(() => ({ last: false })), WAITING),
  mutant(
    'a job that waits is written down as rejected',
    () =>
      otherLedger(({ hold }) => ({
        hold: async (asks, deadlineMs, options) => {
          const outcomes = await hold(asks, deadlineMs, options);
          const waits = asks.filter((_, index) => outcomes[index]?.outcome === 'waiting');
          const atOnce = waits.map(({ wait: _, ...ask }) => ask);
          if (atOnce.length > 0) await hold(atOnce, deadlineMs, options);
          return outcomes;
        },
      })),
    WAITING,
  ),
  mutant(
    'a relay asks again after four times as long',
    () =>
      otherQueue(({ clock, ...options }) => ({
        ...options,
        clock: but(clock, { after: (delayMs, run) => clock.after(4 * delayMs, run) }),
      })),
    WAITING,
  ),
  mutant(
    'a relay answers after twice the timeout of the router',
    () => otherQueue((options) => ({ ...options, answerWithinMs: 2 * options.answerWithinMs })),
    { month: 'silent' },
  ),
  mutant(
    'a relay gives up a job after half its time',
    () => otherQueue((options) => ({ ...options, answerWithinMs: options.answerWithinMs / 2 })),
    WAITING,
  ),
  mutant(
    'a relay does not report its waiting jobs',
    () => ({ waiting: (options) => but(new WaitQueue(options), { terms: () => ({}) }) }),
    WAITING,
  ),
  mutant(
    'jobs that never asked are free',
    () => otherLedger(() => ({ recordBypass: async (asks) => asks.map(() => 'applied' as const) })),
    { days: 3 },
  ),
  mutant(
    'the history of runs is not used',
    () => ({
      rules: (rules) => ({
        ...rules,
        policy: { ...rules.policy, estimate: { ...rules.policy.estimate, mode: 'default' as const } },
      }),
    }),
    { estimate: 'history' },
  ),
  mutant(
    'the rollup counts every job twice',
    () =>
      otherRollup((table) => ({
        commit: ({ contributions, usage }) =>
          table.commit({
            contributions,
            usage: usage.map(({ key, delta }) => ({
              key,
              delta: new Map([...delta].map(([name, count]) => [name, 2 * count])),
            })),
          }),
      })),
    ROLLED_UP,
  ),
  mutant(
    'the rollup counts every image of a job',
    () =>
      otherRollup((table) => ({
        readContributions: async (jobIds) => jobIds.map(() => undefined),
        commit: ({ usage }) => table.commit({ contributions: [], usage }),
      })),
    ROLLED_UP,
  ),
];
