/** The claims that a job must have when its record is first written, found from the rulebook alone. */
import type { JobRecord } from '../../functions/core/ledger/ledger.ts';
import { counterName } from '../../policies/claim.ts';
import { must } from './findings.ts';
import { groupIdsOf, type SimulatedGitLab, type TrueJob } from './gitlab.ts';
import { AskedClaims, type ExpectedAsk, neverFits, type RunEstimates } from './rulebook/asked-claims.ts';
import type { RuleSet } from './rulebook/rule-set.ts';

export interface Birth {
  readonly ruleSet: number;
  readonly ask: ExpectedAsk;
  readonly state: JobRecord['state'];
  readonly unchecked: JobRecord['unchecked'];
  readonly call: number;
  readonly commit: number;
}

export interface BirthDeps {
  readonly gitlab: SimulatedGitLab;
  readonly ruleSets: readonly RuleSet[];
  readonly estimates: RunEstimates;
}

const LATE_MS = 28 * 24 * 3_600_000;

/** The inputs of a decision travel as its policy version: set of rules, clock of the deciding process, call. */
export const versionText = (ruleSet: number, atMs: number, call: number): string =>
  `${ruleSet} ${atMs} ${call}`;

const asked = new WeakMap<RuleSet, AskedClaims>();

export function askedClaims(ruleSet: RuleSet): AskedClaims {
  const known = asked.get(ruleSet) ?? new AskedClaims(ruleSet);
  asked.set(ruleSet, known);
  return known;
}

/** @throws if no lawful time and group of asking explains the record */
export function birthOf(record: JobRecord, { gitlab, ruleSets, estimates }: BirthDeps): Birth {
  const { jobId, facts } = record;
  const [number = -1, atMs = 0, call = 0] = facts.policyVersion.split(' ').map(Number);
  const ruleSet = ruleSets[number];
  if (ruleSet === undefined) throw new Error(`job ${jobId} was decided by set of rules ${number}`);
  const job = gitlab.byId(jobId);
  const found = `${described(record)} on ${record.claims.map(({ counter }) => counterName(counter))}`;
  const expectations: string[] = [];
  for (const { groupId, askedAtMs } of momentsOf(record, job, ruleSet, atMs)) {
    const ask = askedClaims(ruleSet).of(job, groupId, askedAtMs, estimates.secondsOf(job));
    const claims = record.claims.flatMap(({ counter }) =>
      ask.claims.filter((claim) => claim.counter === counterName(counter)),
    );
    const expected = [
      ...[ask.priceVersion, ask.microsPerMinute, job.runnerClass, `${ask.groupIds}`, ask.atMs],
    ].join(' ');
    if (expected === described(record) && claims.length === record.claims.length) {
      if (claims.length === ask.claims.length) {
        const { state, unchecked } = record;
        const birth = { ruleSet: number, ask: { ...ask, claims }, state, unchecked, call, commit: 0 };
        checkClaims(record, birth.ask);
        return birth;
      }
    }
    expectations.push(`${expected} on ${ask.claims.map(({ counter }) => counter)}`);
  }
  throw new Error(
    `job ${jobId} (${record.state}) is decided by ${found}, expected ${expectations.join(' or ')}`,
  );
}

const described = ({ facts, decidedAtMs }: JobRecord): string =>
  [facts.priceVersion, facts.microsPerMinute, facts.runnerClass, `${facts.groupIds ?? ''}`, decidedAtMs].join(
    ' ',
  );

function checkClaims({ jobId, state, answered, unchecked, claims }: JobRecord, ask: ExpectedAsk): void {
  const isBypass = unchecked === 'bypass';
  const cause = isBypass
    ? 'bypass'
    : answered === 'fallback'
      ? 'unmetered'
      : ask.exempt
        ? 'exempt'
        : undefined;
  if (state === 'HELD')
    must(unchecked === cause, `job ${jobId} is unchecked: ${unchecked}, expected ${cause}`);
  for (const [index, claim] of claims.entries()) {
    const expected = ask.claims[index];
    if (expected === undefined) continue;
    const isChecked =
      answered === 'ledger' && !isBypass && expected.bound !== undefined && !neverFits(expected);
    const wanted = [expected.unit, state === 'HELD' ? expected.amount : 0, isChecked].join(' ');
    const shown = [claim.unit, claim.held, claim.checked].join(' ');
    must(
      shown === wanted,
      `job ${jobId} (${state}) claims ${shown} of ${expected.counter}, expected ${wanted}`,
    );
  }
}

interface Moment {
  readonly groupId: number;
  readonly askedAtMs: number;
}

function momentsOf(record: JobRecord, job: TrueJob, ruleSet: RuleSet, atMs: number): readonly Moment[] {
  if (record.unchecked === 'bypass' && record.generation === 1) {
    const startedAtMs = job.startedAtMs ?? 0;
    const isRecent = startedAtMs <= atMs && atMs - startedAtMs <= LATE_MS;
    return [{ groupId: ruleSet.groupOf.get(job.projectId) ?? 0, askedAtMs: isRecent ? startedAtMs : atMs }];
  }
  const groups = [...job.askedIn];
  if (record.answered === 'fallback')
    return job.fallback.flatMap((answer) =>
      (answer.answered === 'rejected') === (record.state === 'REJECTED')
        ? groups.map((groupId) => ({ groupId, askedAtMs: Math.min(answer.atMs, atMs) }))
        : [],
    );
  // One instant for the whole decision: its claims are of the periods of that.
  return groups.map((groupId) => ({ groupId, askedAtMs: record.decidedAtMs }));
}

/**
 * The highest enforced bound of concurrent jobs on a counter since a decision; undefined: no set of rules had such a limit over
 * the job.
 */
export function highestSlots(
  counter: string,
  { jobId }: Pick<JobRecord, 'jobId'>,
  { ruleSet: since }: Birth,
  { gitlab, ruleSets }: BirthDeps,
): number | undefined {
  const { projectId } = gitlab.byId(jobId);
  const bounds = ruleSets.slice(since).flatMap(({ limits, grants, ...tree }) => {
    const groups = groupIdsOf(projectId, tree).map((id) => `group/${id}`);
    const subjects = ['instance', `project/${projectId}`, ...groups];
    return limits.flatMap(({ subject, id, unit, mode, amount }) => {
      if (unit !== 'jobs' || mode !== 'enforce' || `${subject}|${id}|now` !== counter) return [];
      if (amount === 'unlimited' || !subjects.includes(subject)) return [];
      const granted = grants.filter((grant) => grant.subject === subject && grant.limit === id);
      return [granted.reduce((sum, grant) => sum + grant.amount, amount)];
    });
  });
  return bounds.length === 0 ? undefined : Math.max(...bounds);
}
