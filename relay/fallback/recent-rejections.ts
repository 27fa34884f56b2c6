import type { Directory } from '../../policies/directory.ts';
import { keepLatest } from '../../policies/keep-latest.ts';
import { isCap } from '../../policies/limits/cap.ts';
import { placementOf } from '../../policies/placement.ts';
import type { Violation } from '../../policies/reason.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { projectOf } from '../commit/fair-queue.ts';
import type { LedgerVerdict } from '../exchange.ts';

/** The ledger gives a rejected job the same decision for this long. */
const REMEMBERED_MS = 60_000;
const SUBJECTS_MAX = 10_000;

interface RememberedRejection {
  readonly text: string;
  readonly violations: readonly [Violation, ...Violation[]];
  readonly atMs: number;
}

/**
 * Remembers the last rejection of each subject whose limit was used up. While the ledger does not decide, jobs of that subject
 * stay rejected for a minute, so no user gains from making the ledger unreachable. An admission of such a job ends it, unless its
 * limits were not checked (exempt, break glass).
 */
export function createRecentRejections(monotonicMs: () => number, directory: () => Directory | undefined) {
  const bySubject = new Map<string, RememberedRejection>();

  function subjectsOf(request: AdmissionRequest): readonly string[] {
    const { namespaceId, rootNamespaceId, userId, runnerId } = request;
    const above = placementOf(request, directory()).ancestors.map(({ id }) => id);
    return [
      ...['instance', projectSubject(request), runnerSubject(request) ?? []].flat(),
      ...[namespaceId, rootNamespaceId, ...above].map((id) => `group/${id}`),
      ...[`user/${userId}`, `runner/${runnerId}`],
    ];
  }

  function note(request: AdmissionRequest, verdict: LedgerVerdict): void {
    if (verdict.outcome === 'undecided') return;
    if (verdict.outcome === 'admitted') {
      if (bySubject.size === 0 || verdict.shadow.some(isUnchecked)) return;
      for (const subject of subjectsOf(request)) bySubject.delete(subject);
      return;
    }
    const { text, violations } = verdict;
    const subjects = subjectsOf(request);
    for (const violation of violations) {
      if (!isUsedUp(violation)) continue;
      const subject = subjectOf(violation, request);
      const known = subjects.includes(subject) ? subject : projectSubject(request);
      keepLatest(bySubject, known, { text, violations, atMs: monotonicMs() }, SUBJECTS_MAX);
    }
  }

  function find(request: AdmissionRequest): RememberedRejection | undefined {
    if (bySubject.size === 0) return undefined;
    const oldestMs = monotonicMs() - REMEMBERED_MS;
    return subjectsOf(request)
      .flatMap((subject) => bySubject.get(subject) ?? [])
      .find(({ atMs }) => atMs > oldestMs);
  }

  return { note, find };
}

const isUnchecked = ({ exempt, reason }: Violation): boolean =>
  exempt === true || reason.code === 'BREAK_GLASS';

/**
 * The relay evaluates security rules itself. A cap of one pipeline or user says nothing about other jobs, and a job that is larger
 * than a limit nothing about smaller ones.
 */
const isUsedUp = ({ mode, class: ruleClass, reason }: Violation): boolean => {
  if (mode !== 'enforce' || ruleClass === 'security') return false;
  if (reason.code === 'GROUP_FROZEN') return true;
  if (!('limit' in reason) || isCap(reason.subject)) return false;
  return reason.code !== 'EXCEEDS_LIMIT_ALONE' || reason.limitAmount === 0;
};

/** Requests do not name runner classes, so the runner's tags stand for them. A freeze names its subject in words only. */
function subjectOf({ reason }: Violation, request: AdmissionRequest): string {
  if (!('limit' in reason)) return projectSubject(request);
  return reason.subject.startsWith('runner-class/')
    ? (runnerSubject(request) ?? projectSubject(request))
    : reason.subject;
}

const projectSubject = (request: AdmissionRequest): string => `project/${projectOf(request)}`;

/** Undefined if the tags are unknown: the jobs of all such runners have nothing in common. */
const runnerSubject = ({ runnerTags }: AdmissionRequest): string | undefined =>
  runnerTags && `runner-tags/${runnerTags.toSorted().join(',')}`;
