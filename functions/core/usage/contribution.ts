/** Computes the usage of one job's record. Pure: any order of its images ends the same. */

import type { Directory } from '../../../policies/directory.ts';
import { subjectKey } from '../../../policies/limits/limits.ts';
import { periodAt } from '../../../policies/limits/period.ts';
import { costMicros } from '../../../policies/price.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobFacts, JobRecord } from '../ledger/ledger.ts';
import { isExpiredCharged, isLive, ranRejected, wasRejected } from '../ledger/settle.ts';
import {
  ASKED_ON_PREFIX,
  BELOW_COUNTS,
  FORMER_ROOT_PREFIX,
  isGroupSubject,
  isRunnerName,
  queueCounts,
  RAN_REJECTED_BY_PREFIX,
  REJECTED_BY_PREFIX,
  ROOT_JOBS,
  type RunnerName,
  ratioBucket,
  UNASKED_ON_PREFIX,
  type UsageTally,
  WATCHED_BY_PREFIX,
} from './usage.ts';

export interface Contribution {
  readonly jobId: number;
  readonly rev: number;
  readonly generation: number;
  readonly settled: boolean;
  readonly day: string;
  /** `subjectKey`s: the instance, the groups above the job, its project, its runner class. */
  readonly subjects: readonly string[];
  readonly tally: UsageTally;
}

export interface UsageChange {
  readonly record: JobRecord;
  readonly before: Contribution | undefined;
  readonly after: Contribution;
}

export interface ContributionPlace {
  readonly day: string;
  readonly subjects: readonly string[];
  /** The record's top-level group, if the directory knows no such top-level group: it was moved or deleted. */
  readonly formerRoot?: number;
}

/** A record's violations are few; one that lists more counts under the first. */
const RULES_MAX = 20;

/** @param before - counted already: a decision stays on the day and the groups it was first counted on */
export function countContribution(
  record: JobRecord,
  before: Contribution | undefined,
  placeOf: (record: JobRecord) => ContributionPlace,
  nameOf: RunnerName,
): Contribution {
  const place = placeOf(record);
  const { day, subjects } = before?.generation === record.generation ? before : place;
  const tally = countJob(record, () =>
    nameOf(record.facts.runnerId ?? record.facts.asked?.runnerId, day, subjects),
  );
  if (place.formerRoot !== undefined) tally.set(`${FORMER_ROOT_PREFIX}${place.formerRoot}`, 1);
  return {
    jobId: record.jobId,
    rev: record.rev,
    generation: record.generation,
    settled: record.state === 'SETTLED',
    day,
    subjects,
    tally,
  };
}

/** Groups count each runner on their own: their viewers see no runner of another group. The instance does so for jobs of no group. */
export function tallyFor(subject: string, { subjects, tally }: Contribution): UsageTally {
  const namesRunners = isGroupSubject(subject) || (subject === 'instance' && !subjects.some(isGroupSubject));
  const sum = new Map<string, number>();
  for (const [name, jobs] of tally) {
    if (name.startsWith(FORMER_ROOT_PREFIX) && subject !== 'instance') continue;
    if (!isRunnerName(name)) {
      sum.set(name, jobs);
      continue;
    }
    if (namesRunners) sum.set(name, jobs);
    sum.set('ran', jobs);
    if (name.startsWith(UNASKED_ON_PREFIX)) sum.set('unasked', jobs);
  }
  if (isGroupSubject(subject)) setPayer(sum, subject === subjects.find(isGroupSubject));
  return sum;
}

/** The job's top-level group pays. A moved group can be both on one day, so what was decided below another is counted separately. */
function setPayer(sum: Map<string, number>, isRoot: boolean): void {
  if (isRoot) {
    sum.set(ROOT_JOBS, 1);
    return;
  }
  for (const [name, below] of BELOW_COUNTS) {
    const count = sum.get(name);
    if (count !== undefined) sum.set(below, count);
  }
}

export const toGroupQuery = ({ groupId, rootId, projectId }: JobFacts) =>
  withoutAbsent({ projectId, namespaceId: groupId, rootNamespaceId: rootId });

/** By the groups of the record. One from before they were recorded gets those the directory knows now. */
export const placeRecords =
  (directory: Directory | undefined, zone: string) =>
  ({ facts, decidedAtMs }: JobRecord): ContributionPlace => {
    const formerRoot = findFormerRoot(facts, directory);
    return {
      day: periodAt('day', zone, decidedAtMs).key,
      subjects: listSubjects(facts, directory),
      ...(formerRoot !== undefined && { formerRoot }),
    };
  };

/** Without a directory no group is known to be moved or deleted. */
function findFormerRoot(
  { groupIds, rootId }: JobFacts,
  directory: Directory | undefined,
): number | undefined {
  const [id = rootId] = groupIds ?? [];
  if (id === undefined || directory === undefined) return undefined;
  const group = directory.groupById.get(id);
  return group === undefined || group.parentId !== undefined ? id : undefined;
}

function listSubjects(
  { groupId, groupIds, rootId, projectId, runnerClass }: JobFacts,
  directory: Directory | undefined,
): readonly string[] {
  const chain = groupId === undefined ? undefined : directory?.chainById.get(groupId)?.map(({ id }) => id);
  const recorded = [...(groupIds ?? [rootId]), groupId].filter((id) => id !== undefined);
  const groups = groupIds === undefined ? (chain ?? recorded) : recorded;
  return [
    subjectKey({ kind: 'instance' }),
    ...[...new Set(groups)].map((id) => subjectKey({ kind: 'group', id })),
    ...(projectId === undefined ? [] : [subjectKey({ kind: 'project', id: projectId })]),
    subjectKey({ kind: 'runner-class', name: runnerClass }),
  ];
}

function countJob(record: JobRecord, runner: () => string): Map<string, number> {
  const { state, facts, durationSeconds = 0, unchecked } = record;
  const tally = new Map<string, number>([['jobs', 1]]);
  const set = (name: string, count: number): void => {
    if (count !== 0) tally.set(name, count);
  };
  const rejected = wasRejected(record);
  set(rejected ? 'rejected' : 'admitted', 1);
  if (rejected) for (const rule of rejecting(record)) set(`${REJECTED_BY_PREFIX}${rule}`, 1);
  if (ranRejected(record)) {
    set('ranRejected', 1);
    for (const rule of rejecting(record)) set(`${RAN_REJECTED_BY_PREFIX}${rule}`, 1);
  } else if (unchecked !== undefined) set(unchecked, 1);
  for (const rule of watching(record)) set(`${WATCHED_BY_PREFIX}${rule}`, 1);
  set('corrections', record.entries);
  if (isLive(record)) set('heldMicros', facts.costMicros);
  if (state === 'RELEASED') set('released', 1);
  if (state === 'EXPIRED') {
    set('expired', 1);
    if (isExpiredCharged(record)) set('settledMicros', facts.costMicros);
  }
  if (state === 'SETTLED') {
    set(`${tally.has('bypass') ? UNASKED_ON_PREFIX : ASKED_ON_PREFIX}${runner()}`, 1);
    set('seconds', durationSeconds);
    const micros = costMicros(facts.microsPerMinute, durationSeconds, facts.round);
    set('settledMicros', micros);
    const { retryCount, queuedSeconds } = facts;
    const isRetry = retryCount === undefined ? undefined : retryCount > 0;
    for (const [name, count] of queueCounts(isRetry, queuedSeconds, micros)) set(name, count);
    const bucket = ratioBucket(durationSeconds, facts.estimateSeconds);
    if (bucket !== undefined) set(bucket, 1);
  }
  return tally;
}

const rejecting = ({ violations }: JobRecord): ReadonlySet<string> =>
  new Set(violations.slice(0, RULES_MAX).map(({ rule }) => rule));

function watching(record: JobRecord): ReadonlySet<string> {
  if (wasRejected(record)) return new Set();
  const against = record.shadow.filter(
    ({ exempt, reason }) => exempt !== true && reason.code !== 'SOFT_LIMIT',
  );
  return new Set(against.slice(0, RULES_MAX).map(({ rule }) => rule));
}
