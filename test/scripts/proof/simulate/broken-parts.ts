/** Ways of breaking one of the product's parts. */
import type { Rules } from '../../../../functions/core/admission/judge.ts';
import type { HoldAsk, JobRecord, JobState, WaitAsk } from '../../../../functions/core/ledger/ledger.ts';
import type { LimitClaim } from '../../../../policies/claim.ts';
import type { Limit } from '../../../../policies/limits/limit.ts';
import { ruleIndexOf } from '../../../../policies/rule-index.ts';
import type { Parts } from '../../../../scripts/proof/simulate/parts.ts';

/** The same but for some methods. */
export const but = <T extends object>(original: T, other: Partial<T>): T =>
  new Proxy(original, {
    get: (target, name) => {
      const value = Reflect.get(name in other ? other : target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

/** Every admission asks something else. */
export const asking = (change: (ask: HoldAsk) => HoldAsk): Partial<Parts> => ({
  ledger: (ledger) => ({
    ...ledger,
    hold: (asks, deadlineMs, options) => ledger.hold(asks.map(change), deadlineMs, options),
  }),
});

/** The function takes something else of a job that may wait than the relay says. */
export const waiting = (change: (wait: WaitAsk) => Partial<WaitAsk>): Partial<Parts> =>
  asking((ask) => (ask.wait === undefined ? ask : { ...ask, wait: { ...ask.wait, ...change(ask.wait) } }));

export const claims = (ask: HoldAsk, change: (claim: LimitClaim) => readonly LimitClaim[]): HoldAsk => ({
  ...ask,
  claims: ask.claims.flatMap(change),
});

export const changed = (claim: LimitClaim, change: Partial<LimitClaim>): LimitClaim => ({
  ...claim,
  refusal: (seen) => claim.refusal(seen),
  ...change,
});

/** Records in a state are read as others than were written. */
export function remembering(change: (record: JobRecord) => JobRecord, state: JobState): Partial<Parts> {
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

export const withLimits = (rules: Rules, change: (limit: Limit) => Limit): Rules => ({
  ...rules,
  limits: {
    ...rules.limits,
    bySubject: new Map([...rules.limits.bySubject].map(([subject, all]) => [subject, all.map(change)])),
  },
});

export function withoutExemptions(rules: Rules): Rules {
  const asked = rules.policy.rules.map((rule) => ({ ...rule, exempt: [] }));
  return { ...rules, policy: { ...rules.policy, rules: asked, ruleIndex: ruleIndexOf(asked) } };
}

/** Each group of the record becomes the one at the same depth above the job's group now. */
export function onPresentParents(record: JobRecord, { directory }: Rules): JobRecord {
  const { groupId, groupIds = [] } = record.facts;
  const present = directory?.chainById.get(groupId ?? 0) ?? [];
  const subjects = new Map(groupIds.map((id, index) => [`group/${id}`, `group/${present[index]?.id ?? id}`]));
  const moved = record.claims.map((claim) => {
    const subject = subjects.get(claim.counter.subject) ?? claim.counter.subject;
    return { ...claim, counter: { ...claim.counter, subject } };
  });
  return { ...record, claims: moved };
}
