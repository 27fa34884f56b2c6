/** Products that are wrong in one thing each. A month must notice every one of them. */
import type { Rules } from '../../functions/core/admission/judge.ts';
import type { HoldAsk, JobRecord, JobState, WaitAsk } from '../../functions/core/ledger/ledger.ts';
import type { LimitClaim } from '../../policies/claim.ts';
import type { Limit } from '../../policies/limits/limit.ts';
import { pricesAt } from '../../policies/price.ts';
import { ruleIndexOf } from '../../policies/rule-index.ts';
import { WaitQueue } from '../../relay/wait-queue.ts';
import { ZONE_OF_LATE_DAYS } from './month/shape.ts';
import type { Parts } from './parts.ts';
import type { EstimateBasis } from './rulebook/asked-claims.ts';

/** The same but for some methods. */
const but = <T extends object>(original: T, other: Partial<T>): T =>
  new Proxy(original, {
    get: (target, name) => {
      const value = Reflect.get(name in other ? other : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

/** Every admission asks something else. */
const asking = (change: (ask: HoldAsk) => HoldAsk): Partial<Parts> => ({
  ledger: (ledger) => ({
    ...ledger,
    hold: (asks, deadlineMs, options) => ledger.hold(asks.map(change), deadlineMs, options),
  }),
});

/** The function takes something else of a job that may wait than the relay says. */
const waiting = (change: (wait: WaitAsk) => Partial<WaitAsk>): Partial<Parts> =>
  asking((ask) => (ask.wait === undefined ? ask : { ...ask, wait: { ...ask.wait, ...change(ask.wait) } }));

const claims = (ask: HoldAsk, change: (claim: LimitClaim) => readonly LimitClaim[]): HoldAsk => ({
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

/** Each group of the record becomes the one at the same depth above the job's group now. */
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

export interface Mutant {
  readonly fault: string;
  readonly parts: () => Partial<Parts>;
  /** @default default */
  readonly estimate?: EstimateBasis;
  /** It shows only once these days are over. */
  readonly days?: number;
  /** Some need a month with requests while the table is silent, or one in which many jobs wait. @default any */
  readonly month?: 'any' | 'silent' | 'waiting';
}

const MINUTE_MS = 60_000;

export const MUTANTS: readonly Mutant[] = [
  {
    fault: 'concurrent jobs are not counted',
    parts: () => asking((ask) => claims(ask, (claim) => (claim.unit === 'jobs' ? [] : [claim]))),
  },
  {
    fault: 'a rejection is never repeated',
    parts: () =>
      remembering((record) => ({ ...record, decidedAtMs: record.decidedAtMs - MINUTE_MS }), 'REJECTED'),
  },
  {
    fault: 'a rejection stands for two minutes',
    parts: () =>
      remembering((record) => ({ ...record, decidedAtMs: record.decidedAtMs + MINUTE_MS }), 'REJECTED'),
  },
  {
    fault: 'a job settles at the prices of its end',
    parts: () => {
      let rules: Rules | undefined;
      let nowMs = () => 0;
      const atPricesOfNow = (record: JobRecord): JobRecord => {
        const prices = rules && pricesAt(rules.policy.prices, nowMs());
        const price = prices?.classes.find(({ name }) => name === record.facts.runnerClass);
        if (price === undefined) return record;
        return { ...record, facts: { ...record.facts, microsPerMinute: price.microsPerMinute } };
      };
      return {
        ...remembering(atPricesOfNow, 'HELD'),
        rules: (current) => {
          rules = current;
          return current;
        },
        ledger: (ledger, clock) => {
          nowMs = () => clock.nowMs();
          return ledger;
        },
      };
    },
  },
  {
    fault: 'a day ends when it did before the clocks changed',
    parts: () => ({
      rules: (rules) =>
        withLimits(rules, (limit) =>
          limit.zone === ZONE_OF_LATE_DAYS ? { ...limit, zone: '-07:00' } : limit,
        ),
    }),
  },
  {
    fault: 'a fiscal year is a calendar year',
    parts: () => ({
      rules: (rules) => withLimits(rules, ({ fiscalStart: _, ...limit }) => limit),
    }),
  },
  {
    fault: 'a shadow limit rejects',
    parts: () =>
      asking((ask) => ({
        ...claims(ask, (claim) => [changed(claim, { mode: 'enforce' })]),
        violations: ask.violations.map((violation) => ({ ...violation, mode: 'enforce' as const })),
      })),
  },
  {
    fault: 'an exempt job is asked like any other',
    parts: () => ({
      rules: (rules) => withoutExemptions(rules),
    }),
  },
  {
    fault: 'an exempt job is not metered',
    parts: () =>
      asking((ask) =>
        ask.unchecked === 'exempt' ? claims(ask, (claim) => (claim.bound === undefined ? [] : [claim])) : ask,
      ),
  },
  {
    fault: 'a job settles on the counters of its present groups',
    parts: () => {
      let rules: Rules | undefined;
      return {
        ...remembering((record) => (rules === undefined ? record : onPresentParents(record, rules)), 'HELD'),
        rules: (current) => {
          rules = current;
          return current;
        },
      };
    },
  },
  {
    fault: 'edits of limits are never read',
    parts: () => {
      let first: Rules | undefined;
      return {
        rules: (rules) => {
          first ??= rules;
          return { ...rules, limits: first.limits };
        },
      };
    },
  },
  {
    fault: 'grants count for nothing',
    parts: () => ({ rules: (rules) => withLimits(rules, ({ grants: _, ...limit }) => limit) }),
  },
  {
    fault: 'one more than the limit fits',
    parts: () =>
      asking((ask) =>
        claims(ask, (claim) => [
          claim.bound === undefined ? claim : changed(claim, { bound: claim.bound + 1 }),
        ]),
      ),
  },
  {
    fault: 'begun seconds are free',
    parts: () => ({
      ledger: (ledger) => ({
        ...ledger,
        settle: (ends) =>
          ledger.settle(ends.map((end) => ({ ...end, durationSeconds: Math.floor(end.durationSeconds) }))),
      }),
    }),
  },
  {
    fault: 'jobs that the fallback admitted are free',
    parts: () => ({
      ledger: (ledger) => ({
        ...ledger,
        recordUnmetered: (asks, deadlineMs) =>
          ledger.recordUnmetered(
            asks.map((ask) => ({ ...ask, claims: [] })),
            deadlineMs,
          ),
      }),
    }),
    month: 'silent',
  },
  {
    fault: 'no job waits',
    parts: () => asking(({ wait: _, ...ask }) => ask),
    month: 'waiting',
  },
  {
    fault: 'every limit lets jobs wait',
    parts: () =>
      asking((ask) => claims(ask, (claim) => [claim.waitMs ? claim : changed(claim, { waitMs: 20_000 })])),
    month: 'waiting',
  },
  {
    fault: 'a new job takes what earlier jobs wait for',
    parts: () => waiting(() => ({ behind: new Set() })),
    month: 'waiting',
  },
  {
    fault: 'the time that a job has waited is forgotten',
    parts: () => waiting(() => ({ waitedMs: 0 })),
    month: 'waiting',
  },
  {
    fault: 'a job waits on after its last request',
    parts: () => waiting(() => ({ last: false })),
    month: 'waiting',
  },
  {
    fault: 'a job that waits is written down as rejected',
    parts: () => ({
      ledger: (ledger) => ({
        ...ledger,
        hold: async (asks, deadlineMs, options) => {
          const outcomes = await ledger.hold(asks, deadlineMs, options);
          const waits = asks.filter((_, index) => outcomes[index]?.outcome === 'waiting');
          const atOnce = waits.map(({ wait: _, ...ask }) => ask);
          if (atOnce.length > 0) await ledger.hold(atOnce, deadlineMs, options);
          return outcomes;
        },
      }),
    }),
    month: 'waiting',
  },
  {
    fault: 'a relay asks again after four times as long',
    parts: () => ({
      waiting: (deps) => {
        const { clock } = deps;
        const slow = but(clock, { after: (delayMs, run) => clock.after(4 * delayMs, run) });
        return new WaitQueue({ ...deps, clock: slow });
      },
    }),
    month: 'waiting',
  },
  {
    fault: 'a relay answers after twice the timeout of the router',
    parts: () => ({
      waiting: (deps) => new WaitQueue({ ...deps, answerWithinMs: 2 * deps.answerWithinMs }),
    }),
    month: 'silent',
  },
  {
    fault: 'a relay gives up a job after half its time',
    parts: () => ({
      waiting: (deps) => new WaitQueue({ ...deps, answerWithinMs: deps.answerWithinMs / 2 }),
    }),
    month: 'waiting',
  },
  {
    fault: 'a relay does not report its waiting jobs',
    parts: () => ({ waiting: (deps) => but(new WaitQueue(deps), { terms: () => ({}) }) }),
    month: 'waiting',
  },
  {
    fault: 'jobs that never asked are free',
    parts: () => ({
      ledger: (ledger) => ({ ...ledger, recordBypass: async (asks) => asks.map(() => 'applied' as const) }),
    }),
    days: 3,
  },
  {
    fault: 'the history of runs is not used',
    parts: () => ({
      rules: (rules) => ({
        ...rules,
        policy: { ...rules.policy, estimate: { ...rules.policy.estimate, mode: 'default' as const } },
      }),
    }),
    estimate: 'history',
  },
  {
    fault: 'the rollup counts every job twice',
    parts: () => ({
      rollupTable: (table) =>
        but(table, {
          commit: ({ contributions, usage }) =>
            table.commit({
              contributions,
              usage: usage.map(({ key, delta }) => ({
                key,
                delta: new Map([...delta].map(([name, count]) => [name, 2 * count])),
              })),
            }),
        }),
    }),
    estimate: 'history',
    days: 3,
  },
  {
    fault: 'the rollup counts every image of a job',
    parts: () => ({
      rollupTable: (table) =>
        but(table, {
          readContributions: async (jobIds) => jobIds.map(() => undefined),
          commit: ({ usage }) => table.commit({ contributions: [], usage }),
        }),
    }),
    estimate: 'history',
    days: 3,
  },
];
