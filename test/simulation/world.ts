/** The whole system over one table in memory, the simulated GitLab, and the books that watch every commit. */

import { recordUnmetered } from '../../functions/core/admission/decide.ts';
import { type DecideDeps, judgeRequests, type Rules, waitsOf } from '../../functions/core/admission/judge.ts';
import type { UnmeteredAnswer, WaitingTerms } from '../../functions/core/contract/admissions.ts';
import { silentLog } from '../../functions/core/environment/environment.ts';
import type { GitLabJob } from '../../functions/core/gitlab/gitlab.ts';
import { chargeBypass } from '../../functions/core/job-ends/charge-bypass.ts';
import { dynamoSweepCheckpoints } from '../../functions/core/ledger/checkpoints.ts';
import type { HoldOutcome, JobRecord } from '../../functions/core/ledger/ledger.ts';
import type { InboxItem } from '../../functions/core/ledger/store.ts';
import { ledgerKeys } from '../../functions/core/store/keys.ts';
import { MemoryTable } from '../../functions/core/store/memory-table.ts';
import { LedgerError } from '../../functions/core/store/table-failure.ts';
import type { SweepReport } from '../../functions/sweep/run.ts';
import { sweep } from '../../functions/sweep/sweep.ts';
import { type Estimator, historyEstimator, timeoutEstimator } from '../../policies/estimate.ts';
import { NO_HISTORY, type ProjectHistory, withRuns } from '../../policies/run-history.ts';
import { type HandClock, handClock } from '../../scripts/local/clock.ts';
import { seededRandom } from '../../scripts/local/random.ts';
import { endJobs } from '../support/ledger/end-jobs.ts';
import type { RollupFault } from '../support/ledger/memory-rollup-store.ts';
import { MemoryStore, type StoreFault, type StoreOperation } from '../support/ledger/memory-store.ts';
import { ExpectedAnswers, type ExpectedTurn } from './answers.ts';
import { versionText } from './birth.ts';
import { Books } from './books.ts';
import { type Company, pathOfProject, rulesOf } from './documents.ts';
import { Findings } from './findings.ts';
import { groupIdsOf, SimulatedGitLab, type TrueJob } from './gitlab.ts';
import { but, type Parts, PRODUCT } from './parts.ts';
import { type Interleaver, Process } from './process.ts';
import { Rollup } from './rollup.ts';
import { type EstimateBasis, RunEstimates } from './rulebook/asked-claims.ts';
import type { RuleSet } from './rulebook/rule-set.ts';

const INSTANCE = 'gitlab.example.com';
export const PROCESSES = ['admit 0', 'admit 1', 'hook', 'settle', 'sweep 0', 'sweep 1', 'requeue'] as const;
export type ProcessName = (typeof PROCESSES)[number];

export interface WorldOptions {
  readonly seed: number;
  readonly startMs: number;
  readonly company: Company;
  readonly ruleSets: RuleSet[];
  readonly estimate: EstimateBasis;
  readonly chargeUnknown: 'hold' | 'nothing';
  readonly zone: string;
  readonly runnerIds: readonly number[];
  readonly jobsPerPage: number;
  readonly fault: (operation: StoreOperation) => StoreFault | undefined;
  readonly rollupFault?: () => RollupFault | undefined;
  readonly interleaver?: Interleaver;
  /** Reads records and due jobs from the books: a month of sweeps cannot afford to walk the table. */
  readonly isQuick?: boolean;
  readonly parts?: Partial<Parts>;
  readonly onHook: (job: TrueJob, gitlabJob: GitLabJob) => void;
  readonly onReceived?: (item: InboxItem) => void;
  readonly onRecord?: (record: JobRecord) => void;
}

export interface AdmitCall {
  readonly leftMs: number;
  readonly terms?: WaitingTerms;
  readonly turnOf?: (jobId: number) => ExpectedTurn;
}

export class World {
  readonly clock: HandClock;
  readonly gitlab: SimulatedGitLab;
  readonly findings = new Findings();
  readonly books: Books;
  readonly answers: ExpectedAnswers;
  readonly store: MemoryStore;
  readonly rollup: Rollup;
  readonly keys = ledgerKeys(INSTANCE);
  readonly ruleSets: RuleSet[];
  readonly skewMs = new Map<ProcessName, number>();
  readonly parts: Parts;
  faults = 0;
  isCalm = true;
  readonly #marks = dynamoSweepCheckpoints({ table: new MemoryTable(), instance: INSTANCE });
  readonly #options: WorldOptions;
  readonly #estimates: RunEstimates;
  readonly #estimator: Estimator;
  readonly #histories = new Map<number, ProjectHistory>();
  readonly #learned = new Set<number>();
  readonly #processes = new Map<ProcessName, Process>();
  readonly #processStore: ConstructorParameters<typeof Process>[0]['store'];
  #random: number;
  #tokens = 0;
  #calls = 0;
  #position = -1;
  #rules: Omit<Rules, 'estimator'> | undefined;

  constructor(options: WorldOptions) {
    const { seed, startMs, company, ruleSets, estimate, chargeUnknown } = options;
    this.#options = options;
    this.#random = seed;
    this.parts = { ...PRODUCT, ...options.parts };
    this.clock = handClock(startMs);
    this.ruleSets = ruleSets;
    this.#estimates = new RunEstimates(estimate, company.estimateSeconds);
    this.#estimator =
      estimate === 'history'
        ? historyEstimator((projectId) => this.#histories.get(projectId))
        : timeoutEstimator;
    const { clock, findings } = this;
    this.gitlab = new SimulatedGitLab({
      ...{ nowMs: clock.nowMs, runnerIds: options.runnerIds, jobsPerPage: options.jobsPerPage },
      placeOf: (projectId) => ({
        path: pathOfProject(projectId, this.ruleSet, company),
        groupIds: groupIdsOf(projectId, this.ruleSet),
      }),
      onHook: options.onHook,
    });
    const rulebook = { gitlab: this.gitlab, ruleSets, estimates: this.#estimates };
    this.books = new Books({
      ...{ ...rulebook, findings, chargeUnknown },
      onRecord: (record) => this.#wrote(record),
    });
    this.answers = new ExpectedAnswers({ ...rulebook, books: this.books });
    this.store = new MemoryStore({
      ...{ instance: INSTANCE, clock },
      fault: (operation) => {
        const fault = options.fault(operation);
        if (fault !== undefined) this.faults += 1;
        return fault;
      },
      onCommit: (writes) => this.books.onCommit(writes),
      onReceived: (item) => options.onReceived?.(item),
    });
    this.#processStore = options.isQuick === true ? this.#quickReads(options.fault) : this.store;
    this.rollup = new Rollup({
      ...{ instance: INSTANCE, keys: this.keys, zone: options.zone, clock, random: this.newRandom() },
      directory: () => this.rules.directory,
      fault: options.rollupFault ?? (() => undefined),
      table: this.parts.rollupTable,
    });
  }

  /** Each its own numbers: another use of one draws the same numbers in all others. */
  newRandom(): () => number {
    this.#random += 1;
    return seededRandom(this.#random);
  }

  pass(ms: number): void {
    this.clock.advance(ms);
    this.gitlab.catchUp();
  }

  get ruleSetNumber(): number {
    const { ruleSets } = this;
    const before = this.#position;
    const nowMs = this.clock.nowMs();
    while ((ruleSets[this.#position + 1]?.fromMs ?? Number.POSITIVE_INFINITY) <= nowMs) this.#position += 1;
    if (this.#position > before) this.#rules = undefined;
    return this.#position;
  }

  get ruleSet(): RuleSet {
    const ruleSet = this.ruleSets[this.ruleSetNumber];
    if (ruleSet === undefined) throw new RangeError('no set of rules is in force before the first');
    return ruleSet;
  }

  get rules(): Omit<Rules, 'estimator'> {
    const { ruleSet } = this;
    this.#rules ??= rulesOf(ruleSet, this.#options.company);
    return this.#rules;
  }

  rootOf(projectId: number): number {
    return groupIdsOf(projectId, this.ruleSet)[0] ?? 0;
  }

  process(name: ProcessName): Process {
    const known = this.#processes.get(name);
    if (known?.isAlive === true) return known;
    const process = new Process({
      ...{ interleaver: this.#options.interleaver, clock: this.clock, parts: this.parts },
      ...{ store: this.#processStore, random: this.newRandom() },
      newToken: () => {
        this.#tokens += 1;
        return `t${this.#tokens}`;
      },
      skewMs: () => this.skewMs.get(name) ?? 0,
    });
    this.#processes.set(name, process);
    return process;
  }

  /** The policy version names the set of rules, the time and the call of the decision. */
  decideDeps({ ledger, clock }: Process, call: number = this.#newCall()): DecideDeps {
    const currentRules = async (): Promise<Rules> => {
      const number = this.ruleSetNumber;
      const rules = this.parts.rules({ ...this.rules, estimator: this.#estimator });
      const version = versionText(number, clock.nowMs(), call);
      return { ...rules, policy: { ...rules.policy, version } };
    };
    return { ledger, currentRules, clock, log: silentLog };
  }

  /** One call of the admit function by a relay, compared with the rulebook. */
  async admit(process: Process, jobs: readonly TrueJob[], { leftMs, terms, turnOf }: AdmitCall) {
    const { books, answers, findings } = this;
    const id = this.#newCall();
    const call = books.openCall(id);
    const asked = {
      ...{ call, atMs: process.clock.nowMs() },
      records: new Map(jobs.map(({ jobId }) => [jobId, books.records.get(jobId)])),
    };
    const { faults } = this;
    const predictions = answers.predict(jobs, this.ruleSet, asked.atMs, turnOf);
    const requests = jobs.map((job) => this.gitlab.requestOf(job));
    const judged = await judgeRequests(requests, process.clock.monotonicMs() + leftMs, {
      ...this.decideDeps(process, id),
      ...(terms !== undefined && { waitOf: waitsOf(terms) }),
    });
    const outcomes = judged.map(({ outcome }) => outcome);
    const isExact = call.isAlone && this.isCalm && this.faults === faults && leftMs >= ENOUGH_MS;
    const nowMs = process.clock.nowMs();
    for (const [index, job] of jobs.entries()) {
      const outcome = outcomes[index] ?? UNANSWERED;
      findings.compare('answers', () => {
        answers.check(job, outcome, asked, nowMs);
        if (isExact) answers.checkExactly(job, outcome, predictions[index]);
      });
    }
    books.closeCall(call);
    return { outcomes, predictions };
  }

  /** @returns the answers that were not taken: they stay with the relay and come again */
  async postUnmetered(
    process: Process,
    posted: readonly UnmeteredAnswer[],
  ): Promise<readonly UnmeteredAnswer[]> {
    const entries: unknown[] = JSON.parse(JSON.stringify(posted));
    const results = await recordUnmetered(entries, this.decideDeps(process));
    return posted.filter((_, index) => {
      const outcome = results[index]?.outcome;
      if (outcome !== 'recorded' && outcome !== 'undecided') throw new Error(`an answer was ${outcome}`);
      return outcome !== 'recorded';
    });
  }

  sweep(process: Process): Promise<SweepReport | undefined> {
    const settling = this.decideDeps(process);
    return sweep({
      ...{ ledger: process.ledger, memory: process.sweepMemory, clock: process.clock, marks: this.#marks },
      ...{ gitlab: this.gitlab.api(() => process.step()), chargeUnknown: this.#options.chargeUnknown },
      chargeBypass: (gitlabJobs) => chargeBypass(gitlabJobs, settling),
    }).catch(onlyUnavailable);
  }

  /** The end of jobs by GitLab's word, one of each job. Undefined: the table did not answer; say it again. */
  endJobs(process: Process, gitlabJobs: readonly GitLabJob[]) {
    return endJobs(gitlabJobs, this.decideDeps(process)).catch(onlyUnavailable);
  }

  #quickReads(fault: WorldOptions['fault']): MemoryStore {
    const { store, books } = this;
    const { duePk, dueShardPk } = store.keys;
    return but(store, {
      readRecords: async (jobIds, options) =>
        fault('readRecords') === undefined
          ? jobIds.map((jobId) => books.records.get(jobId))
          : store.readRecords(jobIds, options),
      due: async (shard, beforeMs, limit) =>
        [...books.due]
          .filter(([jobId, dueAtMs]) => dueAtMs < beforeMs && duePk(jobId) === dueShardPk(shard))
          .map(([jobId, dueAtMs]) => ({ jobId, dueAtMs }))
          .sort((a, b) => a.dueAtMs - b.dueAtMs)
          .slice(0, limit),
    });
  }

  #wrote(record: JobRecord): void {
    const { jobId, state, facts, durationSeconds: seconds, endedAtMs = 0 } = record;
    this.rollup.wrote(record);
    this.#options.onRecord?.(record);
    if (state !== 'SETTLED' || seconds === undefined || this.#learned.has(jobId)) return;
    this.#learned.add(jobId);
    this.#estimates.ran(this.gitlab.byId(jobId), seconds);
    const { projectId, jobName, runnerClass } = facts;
    if (projectId === undefined || jobName === undefined) return;
    const before = this.#histories.get(projectId) ?? NO_HISTORY;
    this.#histories.set(projectId, withRuns(before, [{ jobName, runnerClass, seconds, endedAtMs }]));
  }

  #newCall(): number {
    this.#calls += 1;
    return this.#calls;
  }
}

const ENOUGH_MS = 2_000;
const UNANSWERED: HoldOutcome = { outcome: 'undecided', cause: 'unavailable' };

/** A table that does not answer ends a call; any other error is a failure. */
export function onlyUnavailable(error: unknown): undefined {
  if (!(error instanceof LedgerError && error.retryable)) throw error;
  return undefined;
}
