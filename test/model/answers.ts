/** 3: what a job is told agrees with its record, and a rejection with the counters it names. */
import type { JobRecord } from '../../functions/core/ledger/ledger.ts';
import type { Decision } from '../../policies/decision.ts';
import type { Violation } from '../../policies/reason.ts';
import { must } from '../support/ledger/history.ts';
import type { Books } from './books.ts';
import { boundAt, type Edition } from './rulebook.ts';

const REJECTION_STANDS_MS = 60_000;

/** The books and the asking program's clock when a question was put. */
export interface Asked {
  readonly call: number;
  readonly commit: number;
  readonly edition: number;
  readonly atMs: number;
  readonly records: ReadonlyMap<number, JobRecord | undefined>;
  /** How many different jobs are asked about at once. */
  readonly jobs: number;
}

export interface AnswersDeps {
  readonly books: Books;
  readonly editions: readonly Edition[];
}

export function checkAnswer(
  jobId: number,
  decision: Decision,
  asked: Asked,
  nowMs: number,
  deps: AnswersDeps,
): void {
  if (decision.outcome === 'undecided') {
    must(
      decision.cause !== 'invalid' && decision.cause !== 'error',
      `job ${jobId} is undecided: ${decision.cause}`,
    );
    return;
  }
  const { books } = deps;
  const generation = Number(decision.decisionId.split('-')[2]);
  const birth = books.births.get(`${jobId}/${generation}`);
  const now = books.records.get(jobId);
  const before = asked.records.get(jobId);
  const ageMs = nowMs - (before?.decidedAtMs ?? 0);
  const stood = before !== undefined && stands(before, asked.atMs) && stands(before, nowMs);
  const anew = birth?.call === asked.call && generation === (before?.generation ?? 0) + 1;
  must(!(stood && anew), `job ${jobId} was rejected ${ageMs} ms ago and is evaluated anew`);
  if (decision.outcome === 'admitted') {
    const ran = now?.generation === generation && now.state === 'SETTLED';
    must(
      birth !== undefined && (birth.state !== 'REJECTED' || ran),
      `job ${jobId} was admitted on ${birth?.state}`,
    );
    return;
  }
  // What is larger than its limit alone is rejected even where no table answers, whatever its record would say.
  const withoutCounters = decision.violations.some(({ reason }) => reason.code === 'EXCEEDS_LIMIT_ALONE');
  if (birth?.state !== 'REJECTED' && !withoutCounters) {
    const liveSince = books.liveSince.get(jobId) ?? Number.POSITIVE_INFINITY;
    must(liveSince > asked.commit, `job ${jobId} was held when asked and yet told rejected`);
  }
  const again = before?.state === 'REJECTED' && before.generation === generation && !withoutCounters;
  must(
    !again || stands(before, asked.atMs) || stands(before, nowMs),
    `job ${jobId} was rejected ${ageMs} ms ago and is told so again`,
  );
  // Another call's answer told again names the figures of then.
  if (birth !== undefined && birth.call !== asked.call) return;
  for (const violation of decision.violations) checkViolation(jobId, violation, asked, nowMs, deps);
}

const stands = ({ state, violations, decidedAtMs }: JobRecord, nowMs: number): boolean =>
  state === 'REJECTED' && violations.length > 0 && Math.abs(nowMs - decidedAtMs) < REJECTION_STANDS_MS;

function checkViolation(
  jobId: number,
  { reason }: Violation,
  asked: Asked,
  nowMs: number,
  { books, editions }: AnswersDeps,
): void {
  if (!('limitAmount' in reason)) throw new Error(`job ${jobId} was rejected for ${reason.code}`);
  const { subject, limit, limitAmount } = reason;
  const bounds = editions
    .slice(asked.edition)
    .flatMap((edition) =>
      edition.limits
        .filter((each) => each.subject === subject && each.id === limit)
        .flatMap((each) => [boundAt(each, edition, asked.atMs), boundAt(each, edition, nowMs)]),
    );
  must(
    bounds.includes(limitAmount),
    `job ${jobId} was told a limit of ${limitAmount} on ${subject}, it was ${bounds}`,
  );
  const committed = 'committed' in reason ? reason.committed : 0;
  must(
    limitAmount === 0 || committed + reason.asked > limitAmount,
    `job ${jobId} would have fitted: ${committed} and ${reason.asked} of ${limitAmount} on ${subject} ${limit}`,
  );
  // The earlier of several jobs asked about together count for the later.
  if (asked.jobs > 1 || committed === 0) return;
  const seen = [...books.courses].flatMap(([name, course]) => {
    if (!name.startsWith(`${subject}|${limit}|`)) return [];
    const first = course.findLastIndex(({ commit }) => commit <= asked.commit);
    return course.slice(Math.max(first, 0)).map((each) => each.committed);
  });
  must(
    seen.includes(committed),
    `job ${jobId} was told ${committed} on ${subject} ${limit}, which showed ${seen}`,
  );
}
