/** Products that are wrong in one thing each. A month must notice every one of them. */
import type { Rules } from '../../../../functions/core/admission/judge.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { pricesAt } from '../../../../policies/prices/price.ts';
import { WaitQueue } from '../../../../relay/waiting/wait-queue.ts';
import type { EstimateName } from '../../../../scripts/proof/simulate/estimators.ts';
import type { Parts } from '../../../../scripts/proof/simulate/parts.ts';
import { ZONE_OF_LATE_DAYS } from '../../../../scripts/proof/simulate/workload.ts';
import {
  asking,
  but,
  changed,
  claims,
  onPresentParents,
  remembering,
  waiting,
  withLimits,
  withoutExemptions,
} from './broken-parts.ts';

export interface Mutant {
  readonly fault: string;
  readonly parts: () => Partial<Parts>;
  /** @default default */
  readonly estimate?: EstimateName;
  /** It shows only once these days are over. */
  readonly days?: number;
  /** It takes a month in which the table is silent while somebody asks, or one in which many wait for room. @default any does */
  readonly month?: 'any' | 'silent' | 'waiting';
}

const MINUTE_MS = 60_000;

export const MUTANTS: readonly Mutant[] = [
  {
    fault: 'nobody counts jobs at once',
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
    fault: 'a limit that only watches rejects',
    parts: () =>
      asking((ask) => ({
        ...claims(ask, (claim) => [changed(claim, { mode: 'enforce' })]),
        violations: ask.violations.map((violation) => ({ ...violation, mode: 'enforce' as const })),
      })),
  },
  {
    fault: 'an exempt job is asked like every other',
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
    fault: 'a job settles on the counters of where its group is now',
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
    fault: 'what the fallback let go on is free',
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
    fault: 'nobody waits for room',
    parts: () => asking(({ wait: _, ...ask }) => ask),
    month: 'waiting',
  },
  {
    fault: 'whatever refuses a job lets it wait',
    parts: () =>
      asking((ask) => claims(ask, (claim) => [claim.waitMs ? claim : changed(claim, { waitMs: 20_000 })])),
    month: 'waiting',
  },
  {
    fault: 'whoever comes takes what others wait for',
    parts: () => waiting(() => ({ behind: new Set() })),
    month: 'waiting',
  },
  {
    fault: 'how long a job has waited is forgotten',
    parts: () => waiting(() => ({ waitedMs: 0 })),
    month: 'waiting',
  },
  {
    fault: 'a job may be asked about a last time and wait on',
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
    fault: 'a relay asks again four times as rarely',
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
    fault: 'a relay keeps the router waiting for twice as long as it bears',
    parts: () => ({
      waiting: (deps) => new WaitQueue({ ...deps, answerWithinMs: 2 * deps.answerWithinMs }),
    }),
    month: 'silent',
  },
  {
    fault: 'a relay gives up half a job’s patience early',
    parts: () => ({
      waiting: (deps) => new WaitQueue({ ...deps, answerWithinMs: deps.answerWithinMs / 2 }),
    }),
    month: 'waiting',
  },
  {
    fault: 'a relay does not tell who waits',
    parts: () => ({ waiting: (deps) => but(new WaitQueue(deps), { terms: () => ({}) }) }),
    month: 'waiting',
  },
  {
    fault: 'what never asked is free',
    parts: () => ({
      ledger: (ledger) => ({ ...ledger, recordBypass: async (asks) => asks.map(() => 'applied' as const) }),
    }),
    days: 3,
  },
  {
    fault: 'the history of runs is never looked at',
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
