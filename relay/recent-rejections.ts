import type { Violation } from '../policies/reason.ts';
import type { AdmissionRequest } from '../policies/request/request.ts';
import { projectOf } from './commit/batch-job.ts';
import type { Verdict } from './verdict.ts';

/** As long as the ledger itself gives a rejected job the same answer. */
export const REMEMBERED_MS = 60_000;
/** Subjects, not jobs: more than this were rejected within a minute only in an attack, and the oldest go first. */
export const REMEMBERED_MAX = 10_000;

export interface RememberedRejection {
  readonly text: string;
  readonly violations: readonly [Violation, ...Violation[]];
  readonly atMs: number;
}

/**
 * The subjects whose last answer from the ledger was "no": while the ledger is out of reach they are not admitted
 * unmetered, so that nobody gains from making it unreachable. An admission, even of a smaller job, lifts the memory.
 */
export class RecentRejections {
  readonly #monotonicMs: () => number;
  /** Oldest first: a Map keeps the order of insertion. */
  readonly #bySubject = new Map<string, RememberedRejection>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Notes an answer of the ledger. */
  note(request: AdmissionRequest, verdict: Verdict): void {
    if (verdict.outcome === 'undecided') return;
    if (verdict.outcome === 'admitted') {
      if (this.#bySubject.size === 0) return;
      for (const subject of subjectsOf(request)) this.#bySubject.delete(subject);
      return;
    }
    const lasting = verdict.violations.filter(isLasting);
    const rejection = { text: verdict.text, violations: verdict.violations, atMs: this.#monotonicMs() };
    for (const violation of lasting) this.#remember(blockedBy(request, violation), rejection);
  }

  /** The rejection that still holds for a subject of this request. */
  find(request: AdmissionRequest): RememberedRejection | undefined {
    const oldestMs = this.#monotonicMs() - REMEMBERED_MS;
    for (const subject of subjectsOf(request)) {
      const found = this.#bySubject.get(subject);
      if (found !== undefined && found.atMs > oldestMs) return found;
    }
    return undefined;
  }

  #remember(subject: string, rejection: RememberedRejection): void {
    this.#bySubject.delete(subject);
    this.#bySubject.set(subject, rejection);
    if (this.#bySubject.size <= REMEMBERED_MAX) return;
    const [oldest] = this.#bySubject.keys();
    if (oldest !== undefined) this.#bySubject.delete(oldest);
  }
}

/** A limit that is used up rejects the next job too. A job too large for a limit says nothing about the next one. */
function isLasting({ mode, class: ruleClass, reason }: Violation): boolean {
  if (mode !== 'enforce' || ruleClass === 'security') return false;
  if (reason.code === 'EXCEEDS_LIMIT_ALONE') return reason.limitAmount === 0;
  return reason.code === 'BUDGET_EXHAUSTED' || reason.code === 'CONCURRENCY_FULL';
}

/**
 * Whom a used-up limit blocks, as far as the relay can tell without the directory: a group between root and project is
 * taken for the project alone, a runner class for the runner's tags.
 */
function blockedBy(request: AdmissionRequest, { reason }: Violation): string {
  const subject = 'subject' in reason ? reason.subject : '';
  if (subject.startsWith('runner-class/')) return runnerSubject(request) ?? projectSubject(request);
  return subjectsOf(request).includes(subject) ? subject : projectSubject(request);
}

/** In the words of `subjectKey`, so that a violation's subject can be found. */
function subjectsOf(request: AdmissionRequest): readonly string[] {
  const subjects = ['instance', projectSubject(request)];
  if (request.namespaceId !== undefined) subjects.push(`group/${request.namespaceId}`);
  if (request.rootNamespaceId !== undefined) subjects.push(`group/${request.rootNamespaceId}`);
  if (request.userId !== undefined) subjects.push(`user/${request.userId}`);
  const runner = runnerSubject(request);
  if (runner !== undefined) subjects.push(runner);
  return subjects;
}

const projectSubject = (request: AdmissionRequest): string => `project/${projectOf(request)}`;

const runnerSubject = ({ runnerTags }: AdmissionRequest): string | undefined =>
  runnerTags === undefined ? undefined : `runner-tags/${[...runnerTags].sort().join(',')}`;
