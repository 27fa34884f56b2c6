/** Compares every commit with what should be in the table by then: decisions, ends, and the counters they move. */
import type { JobRecord, Write } from '../../../functions/core/ledger/index.ts';
import { counterName } from '../../../policies/claim.ts';
import {
  type ExpectedBooks,
  type ExpectedJob,
  type ExpectedState,
  type ExpectedUncheckedCause,
  endedAs,
  stands,
} from './expected/books.ts';
import type { RunEstimates } from './expected/run-estimates.ts';
import { type CounterSums, NO_SUMS, neverFits } from './expected/verdict.ts';
import type { ExpectedAnswers } from './expected-answers.ts';
import type { Findings } from './findings.ts';
import { otherClaims, otherFacts, otherSums } from './otherwise.ts';
import type { SimulatedRun } from './simulated-gitlab.ts';
import { trueSeconds } from './true-cost.ts';

interface ExpectedRecordsDeps {
  readonly books: ExpectedBooks;
  readonly answers: ExpectedAnswers;
  readonly estimates: RunEstimates;
  readonly runOf: (jobId: number) => SimulatedRun | undefined;
  readonly findings: Findings;
  readonly clock: { nowMs(): number };
}

/** However silent GitLab and the table were. */
const FOUND_WITHIN_MS = 8 * 3_600_000;

export class ExpectedRecords {
  readonly #deps: ExpectedRecordsDeps;
  readonly #fallback = new Map<number, { readonly run: Pick<SimulatedRun, 'job'>; readonly atMs: number }>();

  constructor(deps: ExpectedRecordsDeps) {
    this.#deps = deps;
  }

  /** The fallback let a job go on at this instant, and will post it. */
  letGoOn(job: SimulatedRun['job'], atMs: number): void {
    this.#fallback.set(job.jobId, { run: { job }, atMs });
  }

  /** @param shows - the table's counters after the commit. */
  committed(writes: readonly Write[], shows: (name: string) => CounterSums | undefined): void {
    const { findings, books } = this.#deps;
    for (const write of writes) if (write.kind === 'record') this.#record(write.record);
    for (const write of writes) {
      if (write.kind === 'entry')
        findings.compared('ends', `job ${write.entry.jobId} is corrected, and nothing was wrong with it`);
      if (write.kind !== 'counter') continue;
      const name = counterName(write.key);
      findings.compared('counters', otherSums(name, shows(name) ?? NO_SUMS, books.shows(name)));
    }
  }

  /** After the last sweep: nothing that ran is in no record. */
  over(runs: Iterable<SimulatedRun>): void {
    const { books, findings, clock } = this.#deps;
    for (const { job, endsAtMs } of runs) {
      if (books.jobs.has(job.jobId) || endsAtMs + FOUND_WITHIN_MS > clock.nowMs()) continue;
      findings.compared('ends', `job ${job.jobId} ran (${job.fate}) and is in no record`);
    }
  }

  #record(record: JobRecord): void {
    const { books, findings } = this.#deps;
    const known = books.jobs.get(record.jobId);
    if (known?.generation === record.generation) {
      // Only noted: that the fallback told it too, or when it is due.
      if (known.state === record.state) return;
      const ended = this.#ended(known, record);
      findings.compared('ends', ended.otherwise ?? otherClaims(record, ended.job));
      books.put(ended.job);
      if (ended.job.state === 'SETTLED') this.#deps.estimates.ran(ended.job.job, ended.job.seconds);
      return;
    }
    const born = this.#born(record, known);
    if (born.job === undefined) {
      findings.compared('claims', born.otherwise);
      return;
    }
    findings.compared(
      'claims',
      born.otherwise ?? otherFacts(record, born.job) ?? otherClaims(record, born.job),
    );
    books.put(born.job);
    if (born.job.state === 'SETTLED') this.#deps.estimates.ran(born.job.job, born.job.seconds);
  }

  /** A decision that is new in the table. */
  #born(record: JobRecord, known: ExpectedJob | undefined): Stepped<ExpectedJob | undefined> {
    const { jobId, generation, state, answered, unchecked, decidedAtMs } = record;
    const words = `job ${jobId} is ${state} as generation ${generation}`;
    if (generation !== (known?.generation ?? 0) + 1)
      return { job: undefined, otherwise: `${words} after generation ${known?.generation ?? 0}` };
    if (known !== undefined && stands(known, decidedAtMs))
      return { job: undefined, otherwise: `${words}, and its answer stands: ${known.state}` };
    if (state === 'SETTLED' && unchecked === 'bypass') return this.#neverAsked(record, words);
    if (answered === 'fallback') return this.#letGo(record, words);
    const decision = this.#deps.answers.decisions.get(jobId);
    this.#deps.answers.decisions.delete(jobId);
    if (decision === undefined) return { job: undefined, otherwise: `${words}, and nobody asked about it` };
    if (decision.state === state) return { job: decision };
    return { job: decision, otherwise: `${words}, expected ${decision.state} (${decision.refusedBy})` };
  }

  /** Found after its end: charged by what it used, on the counters and at the price of its start. */
  #neverAsked({ jobId }: JobRecord, words: string): Stepped<ExpectedJob | undefined> {
    const run = this.#deps.runOf(jobId);
    // What the fallback let go on may be over before that is posted.
    if (run === undefined || (run.job.fate !== 'bypass' && !this.#fallback.has(jobId)))
      return { job: undefined, otherwise: `${words}, and it asked` };
    const unasked = this.#unchecked(run.job, run.startsAtMs, 'bypass');
    const held = unasked.held.map(() => 0);
    return {
      job: endedAs({ ...unasked, held, fitted: held.map(() => true) }, 'SETTLED', trueSeconds(run.job)),
    };
  }

  #letGo({ jobId }: JobRecord, words: string): Stepped<ExpectedJob | undefined> {
    const gone = this.#fallback.get(jobId);
    if (gone === undefined) return { job: undefined, otherwise: `${words}, and no fallback let it go on` };
    return { job: this.#unchecked(gone.run.job, gone.atMs, 'unmetered') };
  }

  #unchecked(job: SimulatedRun['job'], atMs: number, uncheckedBy: ExpectedUncheckedCause): ExpectedJob {
    const { answers, books } = this.#deps;
    const ask = answers.askOf(job, atMs);
    const held = ask.claims.map(({ amount }) => amount);
    return {
      job: answers.jobOf(job),
      generation: (books.jobs.get(job.jobId)?.generation ?? 0) + 1,
      state: 'HELD',
      ask,
      fitted: ask.claims.map((claim) => !neverFits(claim)),
      checked: ask.claims.map(() => false),
      held,
      counted: held,
      uncheckedBy,
      refusedBy: [],
      seconds: 0,
    };
  }

  /** Only GitLab's word ends a job, and only as what became of it. */
  #ended(known: ExpectedJob, { jobId, state, durationSeconds }: JobRecord): Stepped<ExpectedJob> {
    const run = this.#deps.runOf(jobId);
    const words = `job ${jobId} went from ${known.state} to ${state}`;
    const isOver = run !== undefined && run.endsAtMs <= this.#deps.clock.nowMs();
    const end = run && END_OF[run.job.fate];
    if (known.state !== 'HELD' || end !== state || !isOver)
      return {
        job: known,
        otherwise: `${words}, which GitLab knows as ${run?.job.fate ?? 'never let go on'}`,
      };
    const job = endedAs(known, end, trueSeconds(run.job));
    return end === 'SETTLED' && durationSeconds !== job.seconds
      ? { job, otherwise: `${words} at ${durationSeconds} s, it ran ${job.seconds} s` }
      : { job };
  }
}

interface Stepped<Job> {
  readonly job: Job;
  readonly otherwise?: string;
}

const END_OF: Readonly<Record<SimulatedRun['job']['fate'], Exclude<ExpectedState, 'HELD' | 'REJECTED'>>> = {
  runs: 'SETTLED',
  bypass: 'SETTLED',
  routerFailure: 'RELEASED',
  canceledBeforeStart: 'RELEASED',
  vanished: 'EXPIRED',
};
