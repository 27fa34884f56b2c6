import { counterName, type LimitClaim } from '../../../policies/claim.ts';
import type { Directory } from '../../../policies/directory.ts';
import { evaluate } from '../../../policies/evaluate.ts';
import type { LimitSet } from '../../../policies/limits/limits.ts';
import { memoizeIn } from '../../../policies/match/remember.ts';
import { compileWildcard, type Wildcard } from '../../../policies/match/wildcard.ts';
import type { Policy } from '../../../policies/policy.ts';
import { pricesAt } from '../../../policies/price.ts';
import type { Violation } from '../../../policies/reason.ts';
import { hasLostVariables, requestOfRecord } from '../../../policies/request/recorded.ts';
import type { Rule } from '../../../policies/rule.ts';
import { unitRow } from '../../../policies/unit.ts';
import { comparesVariables, readsVariables } from '../../../policies/variables/reads-variables.ts';
import { toHoldAsk } from '../../core/admission/judge.ts';
import type { HoldRequest, JobRecord } from '../../core/ledger/ledger.ts';

export interface BacktestRules {
  readonly policy: Policy;
  readonly limits: LimitSet;
  readonly directory: Directory;
}

export interface ReplayRequest {
  readonly ask: HoldRequest;
  /** The record has the request; without it only the job's facts are evaluated. */
  readonly recorded: boolean;
  /** Variables were set and not stored: rules that read them keep their recorded result. */
  readonly variablesLost: boolean;
}

export class ReplayRequests {
  readonly #rules: BacktestRules;
  /** Rules that compare variables by name; `readers` also includes those that read any. */
  readonly #comparers: ReadonlySet<string>;
  readonly #readers: ReadonlySet<string>;
  /** Policies for jobs with a known class and unknown tags, by price version and class. */
  readonly #ofClass = new Map<string, Policy>();

  constructor(rules: BacktestRules) {
    this.#rules = rules;
    const all = rules.policy.rules;
    this.#comparers = idsOf(all.filter(comparesVariables));
    this.#readers = idsOf(all.filter((rule) => readsVariables(rule) || comparesVariables(rule)));
  }

  of(record: JobRecord): ReplayRequest {
    const { asked, runnerClass } = record.facts;
    const recorded = asked !== undefined;
    const lost = recorded && hasLostVariables(asked);
    const request = requestOfRecord(record.jobId, record.facts, asked ?? {});
    const policy = recorded ? this.#rules.policy : this.#policyOf(runnerClass, record.decidedAtMs);
    const evaluation = evaluate(request, {
      ...this.#rules,
      policy,
      nowMs: record.decidedAtMs,
      // Use the recorded estimate: estimates are not part of the edit.
      estimator: { estimateSeconds: () => record.facts.estimateSeconds },
    });
    const ask = toHoldAsk({ request, evaluation });
    if (!recorded) {
      // A field that is only missing in the record is not a violation.
      const violations = ask.violations.filter((each) => missingField(each) === undefined);
      return { ask: { ...ask, violations }, recorded, variablesLost: false };
    }
    const readers = lost ? this.#readers : this.#comparers;
    const needsRecord = lost || readers.size > 0 || record.facts.userPseudonym !== undefined;
    return {
      ask: needsRecord ? keepRecorded(ask, record, readers, lost) : ask,
      recorded,
      variablesLost: lost,
    };
  }

  #policyOf(runnerClass: string, atMs: number): Policy {
    const { policy } = this.#rules;
    const { version, classes, defaultClass: otherwise } = pricesAt(policy.prices, atMs);
    return memoizeIn(this.#ofClass, `${version}\n${runnerClass}`, CACHED_MAX, () => {
      const defaultClass = classes.find(({ name }) => name === runnerClass) ?? otherwise;
      return { ...policy, prices: { version, classes: [], defaultClass } };
    });
  }
}

function keepRecorded(
  ask: HoldRequest,
  record: JobRecord,
  readers: ReadonlySet<string>,
  lost: boolean,
): HoldRequest {
  const then = [...record.violations, ...record.shadow].filter(
    ({ rule, reason }) => readers.has(rule) && !('committed' in reason),
  );
  const now = ask.violations.filter((each) => {
    const field = missingField(each);
    if (readers.has(each.rule) || (lost && field?.includes('variables'))) return false;
    return record.facts.userPseudonym === undefined || field !== 'userId';
  });
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
  const { neverFits: _, own: _own, part: _part, outage: _outage, ...rest } = claim;
  return [{ ...rest, amount: held, refusal: (seen) => claim.refusal(seen) }];
}

const missingField = ({ reason }: Violation): string | undefined =>
  reason.code === 'FIELD_MISSING' ? reason.field : undefined;

/** Classes of all price versions, or groups of one GitLab. */
const CACHED_MAX = 100_000;
const PATTERN_PREFIX = 'groups/';

/** Matches recorded jobs to the subjects of edits, which may be thousands. Groups are those of today's directory. */
export class JobSubjects {
  readonly #wanted: ReadonlySet<string>;
  readonly #patterns: readonly { readonly subject: string; readonly wildcard: Wildcard }[];
  readonly #directory: Directory;
  readonly #ofGroup = new Map<string, readonly string[]>();

  /** @param wanted - as in edits: `instance`, `group/101`, `project/7`, `runner-class/large`, `personal`, `groups/acme/team-?` … */
  constructor(wanted: Iterable<string>, directory: Directory) {
    this.#wanted = new Set(wanted);
    this.#patterns = [...this.#wanted]
      .filter((subject) => subject.startsWith(PATTERN_PREFIX))
      .flatMap((subject) => {
        const compiled = compileWildcard(subject.slice(PATTERN_PREFIX.length));
        return compiled.ok ? [{ subject, wildcard: compiled.wildcard }] : [];
      });
    this.#directory = directory;
  }

  of({ facts }: JobRecord): readonly string[] {
    const { projectId, runnerClass, userId, asked } = facts;
    const direct = [
      'instance',
      `project/${projectId}`,
      `runner-class/${runnerClass}`,
      `user/${userId}`,
      `runner/${asked?.runnerId}`,
    ].filter((subject) => this.#wanted.has(subject));
    const ofGroups = this.#groups(facts);
    return direct.length === 0 ? ofGroups : [...direct, ...ofGroups];
  }

  #groups({ groupId, rootId }: JobRecord['facts']): readonly string[] {
    return memoizeIn(this.#ofGroup, `${groupId} ${rootId}`, CACHED_MAX, () => {
      const chain = this.#directory.chainById.get(groupId ?? 0) ?? [];
      const ids = chain.length > 0 ? chain.map(({ id }) => id) : [rootId, groupId];
      const groups = [...new Set(ids)].map((id) => `group/${id}`);
      const personal = chain.some((group) => group.personal) ? ['personal'] : [];
      const matching = this.#patterns.filter(({ wildcard }) =>
        chain.some((group) => !group.personal && wildcard.matches(group.path)),
      );
      const found = [...groups, ...personal].filter((each) => this.#wanted.has(each));
      return [...found, ...matching.map(({ subject }) => subject)];
    });
  }
}
