import { keepLatest } from '../../policies/keep-latest.ts';
import { isCap } from '../../policies/limits/cap.ts';
import type { Violation } from '../../policies/reason.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { type Unit, unitRow } from '../../policies/unit.ts';
import { projectOf } from '../commit/fair-queue.ts';
import type { LedgerVerdict } from '../exchange.ts';

/** The ledger gives a rejected job the same decision for this long. */
const REMEMBERED_MS = 60_000;
/** Limits, not jobs. Only an attack uses up more within a minute. The oldest are forgotten first. */
const REMEMBERED_MAX = 10_000;
/** Kinds of jobs admitted since. Beyond it the oldest kinds are refused again until the brake's minute is over. */
const KINDS_MAX = 50;

interface RememberedRejection {
  readonly text: string;
  readonly violations: readonly [Violation, ...Violation[]];
  readonly atMs: number;
}

interface Brake extends RememberedRejection {
  /** As requests name it, so that other jobs of it can be found. */
  readonly subject: string;
  /** The limit with its subject, as the ledger names them. */
  readonly limit: string;
  /** The amount that the rejected job asked of the limit. Absent: every job of the subject is refused. */
  readonly asked?: { readonly unit: Unit; readonly amount: number };
  readonly kind: string | undefined;
  /** The job alone is larger than the limit, so only jobs of its kind are refused. */
  readonly onlyKind: boolean;
  /** Smaller jobs that the ledger has admitted since. */
  readonly admittedKinds: Map<string, true>;
}

type Admitted = Extract<LedgerVerdict, { outcome: 'admitted' }>;

/**
 * Remembers the limits that rejected a job within the last minute. While the ledger is out of reach, jobs of their subjects stay
 * rejected, so no user gains from making the ledger unreachable.
 *
 * 1. A rejection sets a brake on its subject and limit.
 * 2. An admission lifts the brake if the job asked at least as much of that limit, or is of the same kind as the rejected job
 *    (project, name and runner tags). If the job was smaller, only jobs of its own kind pass.
 * 3. A job whose limits were not checked (exempt, break glass) lifts nothing.
 */
export class RecentRejections {
  readonly #monotonicMs: () => number;
  readonly #groupsAbove: (request: AdmissionRequest) => readonly number[];
  /** Oldest first, since a Map keeps the order of insertion. */
  readonly #brakes = new Map<string, Brake>();
  readonly #bySubject = new Map<string, Set<Brake>>();

  /** @param groupsAbove - returns the known ids of the groups that contain a job. */
  constructor(
    monotonicMs: () => number,
    groupsAbove: (request: AdmissionRequest) => readonly number[] = () => [],
  ) {
    this.#monotonicMs = monotonicMs;
    this.#groupsAbove = groupsAbove;
  }

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

  /** Returns a rejection that still applies to this request. */
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
    // A brake for every job of the subject covers one for a single kind.
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

/** A limit that is used up and jobs of one kind that are too large for it are two brakes. */
const nameOf = ({ subject, limit, onlyKind, kind }: Brake): string =>
  onlyKind ? `${subject} ${limit} ${kind}` : `${subject} ${limit}`;

type Braked = Pick<Brake, 'subject' | 'limit' | 'kind' | 'onlyKind' | 'asked'>;

/** Returns the brake that a violation sets for other jobs, or undefined if it says nothing about them. */
function brakeOf(
  { mode, class: ruleClass, rule, reason }: Violation,
  request: AdmissionRequest,
  subjects: readonly string[],
): Braked | undefined {
  // The relay evaluates security rules itself.
  if (mode !== 'enforce' || ruleClass === 'security') return undefined;
  const kind = kindOfJob(request);
  // The reason names the frozen subject in words only, so the brake covers the job's own project and runner.
  if (reason.code === 'GROUP_FROZEN')
    return { subject: frozenSubject(request), limit: rule, kind, onlyKind: false };
  // A cap of one pipeline or user says nothing about the others in its project.
  if (!('limit' in reason) || isCap(reason.subject)) return undefined;
  const { unit, asked, limitAmount } = reason;
  const subject = subjectOf(reason.subject, request, subjects);
  const limit = `${reason.subject} ${reason.limit}`;
  if (limitAmount === 0) return { subject, limit, kind, onlyKind: false };
  const onlyKind = reason.code === 'EXCEEDS_LIMIT_ALONE';
  if (onlyKind && kind === undefined) return undefined;
  return { subject, limit, kind, onlyKind, asked: { unit, amount: asked } };
}

/** Requests do not name runner classes, so the runner's tags stand for them. The project stands for an unknown group. */
function subjectOf(subject: string, request: AdmissionRequest, subjects: readonly string[]): string {
  if (subject.startsWith('runner-class/')) return runnerSubject(request) ?? projectSubject(request);
  return subjects.includes(subject) ? subject : projectSubject(request);
}

/** Must match a subject of `requestSubjectsOf`. */
const frozenSubject = (request: AdmissionRequest): string =>
  `${projectSubject(request)} ${runnerSubject(request) ?? ''}`;

/** Returns false for CPU and memory: a decision does not say how much the admitted job has. */
function asksAsMuch({ terms }: Admitted, { asked }: Brake): boolean {
  if (asked === undefined) return true;
  const { asked: askedBy } = unitRow(asked.unit);
  // Units that count jobs have the same amount for each job.
  if (askedBy?.(undefined) !== undefined) return true;
  const admitted = askedBy?.(terms);
  return admitted !== undefined && admitted >= asked.amount;
}

const isAbout = ({ reason }: Violation, { limit }: Brake): boolean =>
  'limit' in reason && `${reason.subject} ${reason.limit}` === limit;

/** Returns the subjects that limits on this job may have. @param groups - known ids of the groups that contain it. */
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

const runnerSubject = ({ runnerTags }: AdmissionRequest): string | undefined =>
  runnerTags === undefined ? undefined : `runner-tags/${[...runnerTags].sort().join(',')}`;

/** Jobs of one kind ask for the same amounts, e.g. a retry or the job of the next pipeline. Undefined without a name. */
const kindOfJob = (request: AdmissionRequest): string | undefined =>
  request.jobName === undefined
    ? undefined
    : JSON.stringify([projectOf(request), request.jobName, runnerSubject(request) ?? '']);
