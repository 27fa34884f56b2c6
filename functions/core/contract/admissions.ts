/**
 * The HTTP contract between a relay and the admit function. Any service that implements it can replace ours.
 *
 * `POST /v1/admissions` {@link AdmissionsRequest} → 200 {@link AdmissionsResponse}. A broken envelope is 400
 * {@link ProblemsResponse}; one bad request among others is `undecided{invalid}` in its place.
 *
 * `POST /v1/unmetered` {@link UnmeteredRequest} → 200 {@link UnmeteredResponse}: fallback decisions of the
 * relay.
 *
 * `POST /v1/directory` {@link DirectoryRequest} → 200 {@link DirectoryResponse}: the groups. A service
 * without a directory answers 404, and the relay's rules by group stay undecided.
 *
 * `POST /v1/policy` `{}` → 200 {@link VersionedDocument}: the policy in force. 404: none is
 * handed out, and the caller keeps its own.
 *
 * `GET /healthz` → 200 `{"status":"ok"}`.
 */
import type { Decision } from '../../../policies/decision.ts';
import type { OutagePolicy } from '../../../policies/limits/limit.ts';
import type { Violation } from '../../../policies/reason.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';

export const ADMISSIONS_PATH = '/v1/admissions';
export const UNMETERED_PATH = '/v1/unmetered';
export const DIRECTORY_PATH = '/v1/directory';
export const POLICY_PATH = '/v1/policy';
export const HEALTH_PATH = '/healthz';

/** 96 jobs leave room for four counters in one transaction of 100 items. */
export const REQUESTS_MAX = 96;
/** Keeps one batch far below Lambda's 6 MB and one slow parse from holding up its neighbours. */
export const BATCH_BYTES_MAX = 300 * 1024;
/** The body limit: a full batch, one oversized request that the relay could not have cut, and the envelope. */
export const BODY_BYTES_MAX = 1024 * 1024;

export interface AdmissionsRequest {
  readonly requests: readonly AdmissionRequest[];
  /** Milliseconds the caller still has; the function starts no transaction with less than 150 left. */
  readonly remainingMs: number;
  /** The caller can keep requests open and accepts `waiting`. Absent: jobs that do not fit are rejected. */
  readonly waiting?: WaitingTerms;
  /** The name of this batch in the caller's log, for ours to use, too: up to 40 of letters, digits, `_` and `-`. */
  readonly batch?: string;
}

export interface WaitingTerms {
  /** Counters with waiting jobs: only jobs whose `turn` names them may take from them. At most {@link LINES_MAX}. */
  readonly lines?: readonly string[];
  readonly jobs?: readonly {
    readonly jobId: number;
    readonly waitedMs: number;
    /** Counters from `lines` that this job waits for and may take from now. */
    readonly turn?: readonly string[];
    /** It can wait no longer: it is admitted or rejected now. */
    readonly last?: true;
  }[];
}

/** Counters that others wait for, as named in one request. */
export const LINES_MAX = 64;

export interface AdmissionsResponse {
  /** The request's `batch`, if it had one. An answer under another name is another batch's, and none of it is used. */
  readonly batch?: string;
  /** One per request, in any order. `notice` says if the owner was notified before; a service without notices omits it. */
  readonly decisions: readonly AdmissionAnswer[];
  /** Counters on which jobs of several root groups had conflicts: the caller should send those groups in one batch. */
  readonly contended?: readonly ContendedCounter[];
  /** Transactions that the batch took one after the other, if more than one: send fewer of these jobs at once. */
  readonly transactions?: number;
  /** Version of the policy that decided. A caller with another one asks for it. */
  readonly policy?: string;
  /** Headroom for fallback decisions, each limit at most once a second. Absent: the fallback admits all jobs. */
  readonly room?: readonly LimitRoom[];
}

/** Counters in one response: a job has at most 24, and few are shared. */
export const CONTENDED_MAX = 24;

export interface ContendedCounter {
  readonly counter: string;
  readonly jobIds: readonly number[];
}

export const ROOMS_MAX = 64;

export interface LimitRoom {
  readonly refusal: Violation;
  readonly policy: Exclude<OutagePolicy, 'admit'>;
  /** Length of its period, ms. Absent: it never resets. */
  readonly periodMs?: number;
}

/** The caller goes by the id, never by the place in the list. Absent: the request had none that can be read. */
export type JobDecision = Decision & { readonly jobId?: number };

export type AdmissionAnswer = JobDecision | (WaitingAnswer & { readonly jobId?: number });

/** Only limits with a wait queue refuse it: ask again, and let no job pass it. Nothing was written. */
export interface WaitingAnswer {
  readonly outcome: 'waiting';
  readonly leftMs: number;
  /** Names of the counters that it waits for; compare them only for equality. At most a job's counters. */
  readonly counters: readonly string[];
  readonly violations: readonly [Violation, ...Violation[]];
  readonly text: string;
}

export interface UnmeteredAnswer {
  readonly request: AdmissionRequest;
  readonly answered: 'admitted' | 'rejected';
  /** Why the ledger was not asked or its answer not used, e.g. `deadline`, `circuit_open`. */
  readonly cause: string;
  readonly answeredAtMs: number;
}

export interface UnmeteredRequest {
  readonly answers: readonly UnmeteredAnswer[];
}

export interface UnmeteredResponse {
  /** One per answer, in any order. `undecided` may be sent again; `invalid` can never be recorded. */
  readonly results: readonly UnmeteredResult[];
}

export interface UnmeteredResult {
  /** Left out only where the answer had none that can be read. */
  readonly jobId?: number;
  readonly outcome: 'recorded' | 'undecided' | 'invalid';
}

export interface DirectoryRequest {
  readonly have: Readonly<Record<string, string>>;
}

/** Parts in one answer at the most, so that no answer is large: with more the caller asks again. */
export const DIRECTORY_PARTS_PER_RESPONSE_MAX = 64;
/** Parts of a directory at the most: two million projects. */
export const DIRECTORY_PARTS_MAX = 4_096;

export type DirectoryResponse =
  | { readonly live: false }
  | {
      readonly live: true;
      /** Since all groups were last listed to their end, ms. */
      readonly ageMs: number;
      /** All parts there are, by name, with the hash of their content. What is not named is gone. */
      readonly parts: Readonly<Record<string, string>>;
      /** Parts that the caller lacks or has in another version, up to a bound. */
      readonly changed: Readonly<Record<string, readonly DirectoryRow[]>>;
    };

/**
 * A group or a personal namespace: id, parent (0: none), full path, visibility (0 unknown, 1 private, 2 internal, 3 public),
 * 1 for a personal namespace, how many listings in a row did not have it.
 */
export type DirectoryRow = readonly [
  id: number,
  parentId: number,
  path: string,
  visibility: number,
  personal: number,
  missed: number,
];

/** A document with the short hash of its content, as the build wrote it. */
export interface VersionedDocument {
  readonly version: string;
  readonly document: unknown;
}

export interface ProblemsResponse {
  readonly problems: readonly string[];
}

/** A relay's heartbeat, written every 30 s and read by the watchdog and by people. */
export interface Beat {
  readonly atMs: number;
  readonly openStreams: number;
  readonly schema?: {
    readonly source: string;
    readonly hash?: string;
    /** Those that come along with Tollgate: no GitLab has their field numbers. */
    readonly placeholder?: boolean;
    /** The schema's status: `proven`, or another word of the relay. */
    readonly state?: string;
  };
  /** Since all groups of GitLab were listed, as this relay knows them; before it has a directory, since its start. */
  readonly directoryAgeMs?: number;
  /** State of the circuit breaker: `closed` lets calls through. */
  readonly breaker?: string;
  readonly policyVersion?: string;
  /** The longest time that the admission request of a waiting job is kept open. */
  readonly answerWithinMs?: number;
  /** The longest wait queues, at most {@link WAITING_LINES_MAX}, in the order of their turns. Absent: none waits. */
  readonly waiting?: readonly WaitingLine[];
}

export const WAITING_LINES_MAX = 20;

export interface WaitingLine {
  readonly root: string;
  /** By name: `group/101|jobs-now|now`. */
  readonly counter: string;
  readonly jobs: number;
  readonly longestMs?: number;
}
