import { keepLatest } from '../policies/keep-latest.ts';
import { isCap } from '../policies/limits/cap.ts';
import type { Violation } from '../policies/reason.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import { type Unit, unitRow } from '../policies/units/unit.ts';
import { projectOf } from './commit/batch-job.ts';
import type { LedgerVerdict } from './verdict.ts';

/** As long as the ledger itself gives a rejected job the same answer. */
export const REMEMBERED_MS = 60_000;
/** Limits, not jobs: more than this were used up within a minute only in an attack, and the oldest go first. */
export const REMEMBERED_MAX = 10_000;
/** Kinds of jobs that fitted since; beyond so many the oldest are refused again until the brake's minute is over. */
export const KINDS_MAX = 50;

interface RememberedRejection {
  readonly text: string;
  readonly violations: readonly [Violation, ...Violation[]];
  readonly atMs: number;
}

interface Brake extends RememberedRejection {
  /** In the words of requests, so that other jobs of it can be found. */
  readonly subject: string;
  /** Includes the subject it is on, as the ledger calls it. */
  readonly limit: string;
  /** What the rejected job asked of the limit; absent where the size does not matter: any job of the subject is refused. */
  readonly asked?: { readonly unit: Unit; readonly amount: number };
  readonly kind: string | undefined;
  /** The job alone is larger than the limit, which says nothing about other jobs. */
  readonly onlyKind: boolean;
  /** Smaller jobs that the ledger has admitted since. */
  readonly admittedKinds: Map<string, true>;
}

type Admitted = Extract<LedgerVerdict, { outcome: 'admitted' }>;

/**
 * The limits that last said "no" to somebody: while the ledger is out of reach nobody of their subjects is admitted
 * unmetered, so that nobody gains from making it unreachable.
 *
 * A rejection brakes its own subject and limit, whatever limit it is. An admission shows that there was room for a job of
 * that size, and no more: it lifts the brake if the job asked at least as much of that limit as the one that was rejected, or
 * is another of the same kind (project, name and runner tags). If it was smaller, only jobs of its own kind pass. A job whose
 * limits were not asked (exempt, break glass) shows nothing.
 */
export class RecentRejections {
  readonly #monotonicMs: () => number;
  readonly #groupsAbove: (request: AdmissionRequest) => readonly number[];
  /** Oldest first: a Map keeps the order of insertion. */
  readonly #brakes = new Map<string, Brake>();
  readonly #bySubject = new Map<string, Set<Brake>>();

  /** @param groupsAbove - ids of all groups a job is in, as far as they are known. */
  constructor(
    monotonicMs: () => number,
    groupsAbove: (request: AdmissionRequest) => readonly number[] = () => [],
  ) {
    this.#monotonicMs = monotonicMs;
    this.#groupsAbove = groupsAbove;
  }

  /** Notes an answer of the ledger. */
  readonly note = (request: AdmissionRequest, verdict: LedgerVerdict): void => {
    if (verdict.outcome === 'admitted') {
      if (this.#brakes.size > 0) this.#admitted(request, verdict);
    } else if (verdict.outcome !== 'undecided') {
      const rejection = { text: verdict.text, violations: verdict.violations, atMs: this.#monotonicMs() };
      for (const violation of verdict.violations) {
        const brake = brakeOf(violation, request, this.#subjectsOf(request));
        if (brake !== undefined) this.#remember({ ...rejection, ...brake, admittedKinds: new Map() });
      }
    }
  };

  /** The rejection that still holds for this request. */
  find(request: AdmissionRequest): RememberedRejection | undefined {
    if (this.#brakes.size === 0) return undefined;
    const oldestMs = this.#monotonicMs() - REMEMBERED_MS;
    const kind = kindOfJob(request);
    for (const brake of this.#brakesOn(request)) {
      if (brake.atMs <= oldestMs || (kind !== undefined && brake.admittedKinds.has(kind))) continue;
      if (brake.onlyKind && kind !== brake.kind) continue;
      const { text, violations, atMs } = brake;
      return { text, violations, atMs };
    }
    return undefined;
  }

  #admitted(request: AdmissionRequest, verdict: Admitted): void {
    if (verdict.shadow.some(({ exempt, reason }) => exempt === true || reason.code === 'BREAK_GLASS')) return;
    const kind = kindOfJob(request);
    for (const brake of this.#brakesOn(request)) {
      if (verdict.shadow.some((violation) => isAbout(violation, brake))) continue;
      const sameKind = kind !== undefined && kind === brake.kind;
      if (sameKind || (!brake.onlyKind && asksAsMuch(verdict, brake))) this.#forget(brake);
      else if (kind !== undefined) keepLatest(brake.admittedKinds, kind, true, KINDS_MAX);
    }
  }

  #brakesOn(request: AdmissionRequest): readonly Brake[] {
    return this.#subjectsOf(request).flatMap((subject) => [...(this.#bySubject.get(subject) ?? [])]);
  }

  #subjectsOf(request: AdmissionRequest): readonly string[] {
    return requestSubjectsOf(request, this.#groupsAbove(request));
  }

  #remember(brake: Brake): void {
    const before = this.#brakes.get(nameOf(brake));
    // A job too large for a limit that refuses everybody tells nothing new.
    if (before !== undefined && brake.onlyKind && !before.onlyKind && this.#isFresh(before)) return;
    if (before !== undefined) this.#forget(before);
    this.#brakes.set(nameOf(brake), brake);
    const ofSubject = this.#bySubject.get(brake.subject) ?? new Set();
    this.#bySubject.set(brake.subject, ofSubject.add(brake));
    if (this.#brakes.size <= REMEMBERED_MAX) return;
    const [oldest] = this.#brakes.values();
    if (oldest !== undefined) this.#forget(oldest);
  }

  #isFresh({ atMs }: Brake): boolean {
    return atMs > this.#monotonicMs() - REMEMBERED_MS;
  }

  #forget(brake: Brake): void {
    this.#brakes.delete(nameOf(brake));
    const ofSubject = this.#bySubject.get(brake.subject);
    ofSubject?.delete(brake);
    if (ofSubject?.size === 0) this.#bySubject.delete(brake.subject);
  }
}

/** One for each size of question: a limit that is used up, and jobs of one kind that are too large for it. */
const nameOf = ({ subject, limit, onlyKind, kind }: Brake): string =>
  onlyKind ? `${subject} ${limit} ${kind}` : `${subject} ${limit}`;

type Braked = Pick<Brake, 'subject' | 'limit' | 'kind' | 'onlyKind' | 'asked'>;

/** What a violation says of other jobs; undefined: nothing, because the relay asks that rule itself. */
function brakeOf(
  { mode, class: ruleClass, rule, reason }: Violation,
  request: AdmissionRequest,
  subjects: readonly string[],
): Braked | undefined {
  if (mode !== 'enforce' || ruleClass === 'security') return undefined;
  const kind = kindOfJob(request);
  // It names what is frozen in words only: as much of it as this job surely has in common with it.
  if (reason.code === 'GROUP_FROZEN')
    return { subject: frozenSubject(request), limit: rule, kind, onlyKind: false };
  // One pipeline or user that used up its cap says nothing of the others in its project.
  if (!('limit' in reason) || isCap(reason.subject)) return undefined;
  const { unit, asked, limitAmount } = reason;
  const subject = subjectOf(reason.subject, request, subjects);
  const limit = `${reason.subject} ${reason.limit}`;
  if (limitAmount === 0) return { subject, limit, kind, onlyKind: false };
  const onlyKind = reason.code === 'EXCEEDS_LIMIT_ALONE';
  if (onlyKind && kind === undefined) return undefined;
  return { subject, limit, kind, onlyKind, asked: { unit, amount: asked } };
}

/** In the words of requests: a runner class is known by its runner's tags, a group that is not known by the project below it. */
function subjectOf(subject: string, request: AdmissionRequest, subjects: readonly string[]): string {
  if (subject.startsWith('runner-class/')) return runnerSubject(request) ?? projectSubject(request);
  return subjects.includes(subject) ? subject : projectSubject(request);
}

/** The same as in `requestSubjectsOf`. */
const frozenSubject = (request: AdmissionRequest): string =>
  `${projectSubject(request)} ${runnerSubject(request) ?? ''}`;

/** Nobody says how much CPU or memory the admitted job has. */
function asksAsMuch({ terms }: Admitted, { asked }: Brake): boolean {
  if (asked === undefined) return true;
  const { asked: askedBy } = unitRow(asked.unit);
  // One job is one job.
  if (askedBy?.(undefined) !== undefined) return true;
  const admitted = askedBy?.(terms);
  return admitted !== undefined && admitted >= asked.amount;
}

const isAbout = ({ reason }: Violation, { limit }: Brake): boolean =>
  'limit' in reason && `${reason.subject} ${reason.limit}` === limit;

// What limits may be on, as far as a request says by itself: the subjects of a job in the words of `subjectKey`.
/** @param groups - ids of the groups that are known to be above it. */
function requestSubjectsOf(request: AdmissionRequest, groups: readonly number[]): readonly string[] {
  const project = projectSubject(request);
  const runner = runnerSubject(request);
  const { namespaceId, rootNamespaceId, userId, runnerId } = request;
  const subjects = new Set(['instance', project, `${project} ${runner ?? ''}`]);
  for (const id of [namespaceId, rootNamespaceId, ...groups])
    if (id !== undefined) subjects.add(`group/${id}`);
  if (userId !== undefined) subjects.add(`user/${userId}`);
  if (runnerId !== undefined) subjects.add(`runner/${runnerId}`);
  if (runner !== undefined) subjects.add(runner);
  return [...subjects];
}

const projectSubject = (request: AdmissionRequest): string => `project/${projectOf(request)}`;

/** A runner class is not named in a request; its runner's tags make it. */
const runnerSubject = ({ runnerTags }: AdmissionRequest): string | undefined =>
  runnerTags === undefined ? undefined : `runner-tags/${[...runnerTags].sort().join(',')}`;

/** Jobs that ask the same: one of the pipeline before, or what GitLab makes of `retry`. Undefined: it has no name. */
const kindOfJob = (request: AdmissionRequest): string | undefined =>
  request.jobName === undefined
    ? undefined
    : JSON.stringify([projectOf(request), request.jobName, runnerSubject(request) ?? '']);
