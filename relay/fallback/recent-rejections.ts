import { isCap } from '../../policies/limits/cap.ts';
import type { Violation } from '../../policies/reason.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { projectOf } from '../commit/fair-queue.ts';
import type { LedgerVerdict } from '../exchange.ts';

/** The ledger gives a rejected job the same decision for this long. */
const REMEMBERED_MS = 60_000;
/** Limits, not jobs. Only an attack uses up more within a minute. The oldest are forgotten first. */
const REMEMBERED_MAX = 10_000;

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
  /** The job alone is larger than the limit, so only jobs of its kind are refused. */
  readonly kind?: string | undefined;
}

type Admitted = Extract<LedgerVerdict, { outcome: 'admitted' }>;

/**
 * Remembers the limits that rejected a job within the last minute. While the ledger is out of reach, jobs of their subjects stay
 * rejected, so no user gains from making the ledger unreachable.
 *
 * 1. A rejection sets a brake on its subject and limit.
 * 2. An admission of a job that the limit applies to lifts the brake. One for jobs too large for a limit holds for jobs of their
 *    kind (project, name and runner tags), and only an admission of that kind lifts it.
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
        if (brake !== undefined) this.#remember({ ...rejection, ...brake });
      }
    }
  };

  find(request: AdmissionRequest): RememberedRejection | undefined {
    if (this.#brakes.size === 0) return undefined;
    const oldestMs = this.#monotonicMs() - REMEMBERED_MS;
    const kind = kindOfJob(request);
    for (const brake of this.#brakesOn(request)) {
      if (brake.atMs <= oldestMs || (brake.kind !== undefined && kind !== brake.kind)) continue;
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
      if (brake.kind === undefined || brake.kind === kind) this.#forget(brake);
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
    if (before !== undefined) this.#forget(before);
    this.#brakes.set(nameOf(brake), brake);
    const ofSubject = this.#bySubject.get(brake.subject) ?? new Set();
    this.#bySubject.set(brake.subject, ofSubject.add(brake));
    if (this.#brakes.size <= REMEMBERED_MAX) return;
    const [oldest] = this.#brakes.values();
    if (oldest !== undefined) this.#forget(oldest);
  }

  #forget(brake: Brake): void {
    this.#brakes.delete(nameOf(brake));
    const ofSubject = this.#bySubject.get(brake.subject);
    ofSubject?.delete(brake);
    if (ofSubject?.size === 0) this.#bySubject.delete(brake.subject);
  }
}

/** A limit that is used up and jobs of one kind that are too large for it are two brakes. */
const nameOf = ({ subject, limit, kind = '' }: Brake): string => `${subject} ${limit} ${kind}`;

type Braked = Pick<Brake, 'subject' | 'limit' | 'kind'>;

function brakeOf(
  { mode, class: ruleClass, rule, reason }: Violation,
  request: AdmissionRequest,
  subjects: readonly string[],
): Braked | undefined {
  // The relay evaluates security rules itself.
  if (mode !== 'enforce' || ruleClass === 'security') return undefined;
  // The reason names the frozen subject in words only, so the brake covers the job's own project and runner.
  if (reason.code === 'GROUP_FROZEN') return { subject: frozenSubject(request), limit: rule };
  // A cap of one pipeline or user says nothing about the others in its project.
  if (!('limit' in reason) || isCap(reason.subject)) return undefined;
  const subject = subjectOf(reason.subject, request, subjects);
  const limit = `${reason.subject} ${reason.limit}`;
  if (reason.limitAmount === 0 || reason.code !== 'EXCEEDS_LIMIT_ALONE') return { subject, limit };
  const kind = kindOfJob(request);
  return kind === undefined ? undefined : { subject, limit, kind };
}

/** Requests do not name runner classes, so the runner's tags stand for them. The project stands for an unknown group. */
function subjectOf(subject: string, request: AdmissionRequest, subjects: readonly string[]): string {
  if (subject.startsWith('runner-class/')) return runnerSubject(request) ?? projectSubject(request);
  return subjects.includes(subject) ? subject : projectSubject(request);
}

/** Must match a subject of `requestSubjectsOf`. */
const frozenSubject = (request: AdmissionRequest): string =>
  `${projectSubject(request)} ${runnerSubject(request) ?? ''}`;

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
