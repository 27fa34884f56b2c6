import { counterName, type LimitClaim } from '../../../policies/claim.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { Policy } from '../../../policies/policy.ts';
import { pricesAt } from '../../../policies/prices/price.ts';
import type { Violation } from '../../../policies/reason.ts';
import { requestOfRecord, variablesLost } from '../../../policies/request/recorded.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { Rule } from '../../../policies/rule.ts';
import { unitRow } from '../../../policies/units/unit.ts';
import { comparesVariables, readsVariables } from '../../../policies/variables/reads-variables.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { toHoldAsk } from '../../core/admission/index.ts';
import type { HoldAsk, JobRecord } from '../../core/ledger/index.ts';

export interface BacktestRules {
  readonly policy: Policy;
  readonly limits: LimitSet;
  readonly directory: Directory;
}

/** A recorded job, asked of other documents at the instant of its decision. */
export interface BacktestQuestion {
  readonly ask: HoldAsk;
  /** The record has what the rules looked at; without it only its facts are asked. */
  readonly recorded: boolean;
  /** Variables were set and not stored: rules that read them keep their recorded result. */
  readonly variablesLost: boolean;
}

export class BacktestQuestions {
  readonly #rules: BacktestRules;
  /** Rules that compare variables by name, and with them those that read any. */
  readonly #comparers: ReadonlySet<string>;
  readonly #readers: ReadonlySet<string>;
  /** Keyed by price version and class: the policy for a job of whose runner only the class is known. */
  readonly #ofClass = new Map<string, Policy>();

  constructor(rules: BacktestRules) {
    this.#rules = rules;
    const all = rules.policy.rules;
    this.#comparers = idsOf(all.filter(comparesVariables));
    this.#readers = idsOf(all.filter((rule) => readsVariables(rule) || comparesVariables(rule)));
  }

  of(record: JobRecord): BacktestQuestion {
    const { asked, runnerClass } = record.facts;
    const recorded = asked !== undefined;
    const lost = recorded && variablesLost(asked);
    const request = recorded ? requestOfRecord(record.jobId, record.facts, asked) : fromFacts(record);
    const policy = recorded ? this.#rules.policy : this.#policyOf(runnerClass, record.decidedAtMs);
    const evaluation = evaluate(request, {
      ...this.#rules,
      policy,
      nowMs: record.decidedAtMs,
      // Use the recorded estimate: estimates are not part of the edit.
      estimator: { estimateSeconds: () => record.facts.estimateSeconds },
    });
    const ask = toHoldAsk({ request, evaluation });
    if (!recorded)
      return { ask: { ...ask, violations: ask.violations.filter(isKnown) }, recorded, variablesLost: false };
    const readers = lost ? this.#readers : this.#comparers;
    const wasAsked = lost || readers.size > 0 || record.facts.userPseudonym !== undefined;
    return { ask: wasAsked ? asThen(ask, record, readers, lost) : ask, recorded, variablesLost: lost };
  }

  #policyOf(runnerClass: string, atMs: number): Policy {
    const { policy } = this.#rules;
    const { version, classes, defaultClass: otherwise } = pricesAt(policy.prices, atMs);
    const key = `${version}\n${runnerClass}`;
    const known = this.#ofClass.get(key);
    if (known !== undefined) return known;
    const defaultClass = classes.find(({ name }) => name === runnerClass) ?? otherwise;
    const made = { ...policy, prices: { version, classes: [], defaultClass } };
    this.#ofClass.set(key, made);
    return made;
  }
}

/** Keeps the recorded result of rules whose inputs were not stored. */
function asThen(ask: HoldAsk, record: JobRecord, readers: ReadonlySet<string>, lost: boolean): HoldAsk {
  const then = [...record.violations, ...record.shadow].filter(
    ({ rule, reason }) => readers.has(rule) && !('committed' in reason),
  );
  const now = ask.violations.filter(
    ({ rule, reason }) =>
      !readers.has(rule) && !(lost && wantsVariables(reason)) && !wantsTakenName(reason, record),
  );
  return {
    ...ask,
    violations: [...now, ...then],
    claims: lost ? ask.claims.flatMap((claim) => asHeld(claim, record)) : ask.claims,
  };
}

const idsOf = (rules: readonly Rule[]): ReadonlySet<string> => new Set(rules.map(({ id }) => id));

/** CPU and memory come from variables, so only the held amounts are known. */
function asHeld(claim: LimitClaim, record: JobRecord): readonly LimitClaim[] {
  if (unitRow(claim.unit).requested === undefined) return [claim];
  const name = counterName(claim.counter);
  const held = record.claims.find(({ counter }) => counterName(counter) === name)?.held ?? 0;
  if (held === 0) return [];
  const { counter, unit, mode, bound, grace, soft, rule, waitMs } = claim;
  return [
    {
      counter,
      unit,
      amount: held,
      mode,
      ...withoutAbsent({ bound, grace, soft, waitMs }),
      rule,
      class: claim.class,
      refusal: (seen) => claim.refusal(seen),
    },
  ];
}

const wantsVariables = (reason: Violation['reason']): boolean =>
  reason.code === 'FIELD_MISSING' && reason.field.includes('variables');

/** The id of a user is not kept for good. */
const wantsTakenName = (reason: Violation['reason'], { facts }: JobRecord): boolean =>
  facts.userPseudonym !== undefined && reason.code === 'FIELD_MISSING' && reason.field === 'userId';

/** A field that is only missing in the record is not a violation. */
const isKnown = ({ reason }: Violation): boolean => reason.code !== 'FIELD_MISSING';

function fromFacts({ jobId, facts }: JobRecord): AdmissionRequest {
  const { jobName, projectId, projectPath, groupId, rootId, pipelineId, userId, timeoutSeconds } = facts;
  return {
    jobId,
    timeoutSeconds,
    ...withoutAbsent({
      jobName,
      projectId,
      projectPath,
      namespaceId: groupId,
      rootNamespaceId: rootId,
      pipelineId,
      userId,
    }),
  };
}
