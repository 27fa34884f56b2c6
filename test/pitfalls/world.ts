/** The whole of Tollgate in memory: documents, decide, the ledger and settlement, with a clock that stands still. */
import { decide } from '../../functions/core/admission/decide.ts';
import type { Rules } from '../../functions/core/admission/judge.ts';
import { silentLog } from '../../functions/core/environment/environment.ts';
import type { GitLabJob } from '../../functions/core/gitlab/gitlab.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import type { JobRecord, Ledger } from '../../functions/core/ledger/ledger.ts';
import type { Decision } from '../../policies/decision.ts';
import type { Directory } from '../../policies/directory.ts';
import { type Estimator, timeoutEstimator } from '../../policies/estimate.ts';
import type { AdmissionRequest } from '../../policies/request/request.ts';
import { aDirectory, aPolicy, someLimits } from '../policies/documents.ts';
import { endJobs } from '../support/ledger/end-jobs.ts';
import { MemoryStore, type MemoryStoreOptions } from '../support/ledger/memory-store.ts';
import { manualClock } from '../support/ledger/test-clock.ts';

export const MINUTE_MS = 60_000;
/** 1.00 in micro-units. */
export const ONE = 1_000_000;
/** Long enough for every try: nothing here is decided by a deadline. */
const ANSWER_MS = 30_000;

export interface Documents {
  /** Parts of the policy document, put over the smallest one. */
  readonly policy?: object;
  /** Entries of limits.yaml, or the whole document. */
  readonly limits?: readonly object[] | object;
  readonly directory?: Directory;
  readonly estimator?: Estimator;
}

const rulesOf = ({ policy = {}, limits = [], directory = aDirectory, estimator }: Documents): Rules => {
  const made = aPolicy(policy);
  const document = Array.isArray(limits) ? { limits } : limits;
  return {
    policy: made,
    limits: someLimits(document, made, directory),
    directory,
    estimator: estimator ?? timeoutEstimator,
  };
};

/** A job of project 1 in acme/payments/cards. Ten minutes at 0.10 hold 1.00. */
export const aJob = (jobId: number, over: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  jobId,
  jobName: 'unit',
  pipelineId: 5_000,
  projectId: 1,
  projectPath: 'acme/payments/cards/api',
  namespaceId: 104,
  rootNamespaceId: 100,
  timeoutSeconds: 600,
  variables: {},
  ...over,
});

export const range = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index);

export function world(documents: Documents, options: Partial<MemoryStoreOptions> = {}) {
  const clock = manualClock();
  const store = new MemoryStore({ instance: 'gitlab.example.com', clock, ...options });
  const ledger = createLedger({ store, clock });
  /** Another program on the same table, which has seen nothing of what the first one saw. */
  const other = createLedger({ store, clock });
  let rules = rulesOf(documents);
  const ask = (requests: readonly AdmissionRequest[], by: Ledger = ledger): Promise<readonly Decision[]> =>
    decide(requests, clock.monotonicMs() + ANSWER_MS, {
      ledger: by,
      currentRules: async () => rules,
      clock,
      log: silentLog,
    });
  const read = async (subject: string, limit: string, period: string) =>
    (await ledger.readCounters([{ subject, limit, period }]))[0];
  return {
    clock,
    store,
    ledger,
    other,
    ask,
    /** One job, and what became of it in a word. */
    outcome: async (request: AdmissionRequest, by?: Ledger): Promise<string> =>
      wordOf((await ask([request], by))[0]),
    /** From now on other documents are in force. */
    edit: (changed: Documents): void => {
      rules = rulesOf({ ...documents, ...changed });
    },
    goTo: (iso: string): void => clock.advance(Date.parse(iso) - clock.nowMs()),
    hear: (...gitlabJobs: readonly GitLabJob[]) =>
      endJobs(gitlabJobs, { ledger, currentRules: async () => rules, clock, log: silentLog }),
    committed: async (subject: string, period = '2026-11', limit = 'money-month'): Promise<number> =>
      (await read(subject, limit, period))?.committed ?? 0,
    settled: async (subject: string, period = '2026-11', limit = 'money-month'): Promise<number> =>
      (await read(subject, limit, period))?.settled ?? 0,
    record: (jobId: number): Promise<JobRecord | undefined> => ledger.readRecord(jobId),
    drift: async () => (await ledger.rebuild({ repair: false })).drift,
  };
}

/** `admitted`, `undecided:contended`, or the codes of a rejection: `BUDGET_EXHAUSTED`. */
export function wordOf(decision: Decision | undefined): string {
  if (decision === undefined) return 'nothing';
  switch (decision.outcome) {
    case 'admitted':
      return decision.outcome;
    case 'undecided':
      return `undecided:${decision.cause}`;
    case 'rejected':
      return decision.violations.map(({ reason }) => reason.code).join(' ');
  }
}

export const count = (words: readonly string[], word: string): number =>
  words.filter((each) => each === word).length;

/** GitLab's word that a job ran so long, to a good end. */
export const ran = (jobId: number, seconds: number, over: Partial<GitLabJob> = {}): GitLabJob => {
  const startedAtMs = Date.UTC(2026, 10, 21, 12);
  return {
    jobId,
    projectId: 1,
    status: 'success',
    runnerId: 7,
    startedAtMs,
    finishedAtMs: startedAtMs + seconds * 1_000,
    durationSeconds: seconds,
    ...over,
  };
};

/** GitLab's word that it ended and never ran. */
export const neverRan = (jobId: number, over: Partial<GitLabJob> = {}): GitLabJob => ({
  jobId,
  projectId: 1,
  status: 'canceled',
  ...over,
});
