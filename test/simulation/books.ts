/**
 * Watches every commit of the table and checks at that instant what DESIGN §5 promises, against the simulated GitLab and
 * the rulebook. It knows records and counters, not the code that writes them.
 */
import type {
  CorrectionEntry,
  JobRecord,
  RecordClaim,
  UncheckedCause,
} from '../../functions/core/ledger/ledger.ts';
import type { Write } from '../../functions/core/ledger/store.ts';
import { counterName } from '../../policies/claim.ts';
import { type Birth, type BirthDeps, birthOf, highestSlots } from './birth.ts';
import { type Findings, must } from './findings.ts';
import { isOver, ranSeconds } from './gitlab.ts';
import { neverFits, type Sums } from './rulebook/asked-claims.ts';
import { chargeOf, type DecidedJob } from './rulebook/charges.ts';

interface BooksOptions extends BirthDeps {
  readonly findings: Findings;
  readonly chargeUnknown: 'hold' | 'nothing';
  readonly onRecord: (record: JobRecord) => void;
}

type Amounts = readonly number[];

const CAUSES: readonly UncheckedCause[] = ['exempt', 'unmetered', 'bypass'];
const NOTHING: Amounts = [0, 0, 0, 0, 0, 0];

export interface OpenCall {
  readonly id: number;
  readonly commit: number;
  isAlone: boolean;
}

export class Books {
  readonly records = new Map<number, JobRecord>();
  readonly entries = new Map<number, CorrectionEntry[]>();
  readonly due = new Map<number, number>();
  readonly counters = new Map<string, Amounts>();
  readonly #sums = new Map<string, Amounts>();
  readonly births = new Map<string, Birth>();
  /** The commit since which a job may run by its record. */
  readonly liveSince = new Map<number, number>();
  readonly #settledAt = new Map<string, string>();
  readonly #calls = new Set<OpenCall>();
  readonly #options: BooksOptions;
  commits = 0;

  constructor(options: BooksOptions) {
    this.#options = options;
  }

  onCommit(writes: readonly Write[]): void {
    const { findings, onRecord } = this.#options;
    this.commits += 1;
    const touched = new Set<string>();
    for (const write of writes) {
      if (write.kind === 'record')
        findings.compare('claims', () => this.#born(write.record, write.replaces, writes));
    }
    findings.compare('claims', () => this.#checkedClaimsFit(writes));
    for (const write of writes) {
      if (write.kind === 'record') this.#takeRecord(write.record, touched);
      if (write.kind === 'entry') this.#takeEntry(write.entry, touched);
      if (write.kind === 'counter') {
        const causes = CAUSES.map((cause) => write.unchecked[cause] ?? 0);
        const name = counterName(write.key);
        const added = [write.committed, write.fitted, write.settled, ...causes];
        this.counters.set(name, plus(this.counters.get(name) ?? NOTHING, added));
        touched.add(name);
      }
    }
    for (const name of touched) {
      findings.compare('counters', () => {
        const [shown, sum] = [this.counters.get(name) ?? NOTHING, this.#sums.get(name) ?? NOTHING];
        must(`${shown}` === `${sum}`, `counter ${name} shows ${shown}, its records make ${sum}`);
      });
    }
    for (const write of writes) {
      if (write.kind !== 'record') continue;
      findings.compare('ends', () => this.#checkState(write.record));
      onRecord(write.record);
    }
  }

  openCall(id: number): OpenCall {
    const call = { id, commit: this.commits, isAlone: this.#calls.size === 0 };
    for (const other of this.#calls) other.isAlone = false;
    this.#calls.add(call);
    return call;
  }

  closeCall(call: OpenCall): void {
    this.#calls.delete(call);
  }

  sumsOf(counter: string): Sums {
    const [committed = 0, fitted = 0] = this.counters.get(counter) ?? NOTHING;
    return { committed, fitted };
  }

  birth({ jobId, generation }: Pick<JobRecord, 'jobId' | 'generation'>): Birth {
    const birth = this.births.get(`${jobId}/${generation}`);
    if (birth === undefined) throw new Error(`job ${jobId} has no generation ${generation}`);
    return birth;
  }

  isExplained({ jobId, generation }: JobRecord): boolean {
    return this.births.has(`${jobId}/${generation}`);
  }

  decided(record: JobRecord): DecidedJob {
    const { state, decidedAtMs } = record;
    const { gitlab, chargeUnknown } = this.#options;
    const job = gitlab.byId(record.jobId);
    const birth = this.birth(record);
    // A rejected job that ran all the same is counted as rejected alone.
    const uncheckedBy = record.unchecked === birth.unchecked ? birth.unchecked : undefined;
    const wasReopened = this.entries.get(record.jobId)?.at(-1)?.cause === 'reopened';
    return {
      ...{ job, state, ask: birth.ask, ranSeconds: ranSeconds(job) ?? 0, uncheckedBy },
      decidedAtMs,
      wasRejected: birth.state === 'REJECTED',
      isChargedUnknown: state === 'EXPIRED' && chargeUnknown === 'hold' && !wasReopened,
    };
  }

  /** 6 and 4: a generation keeps its counters and its price; a new one begins only where the table says so. */
  #born(record: JobRecord, replaces: JobRecord | undefined, writes: readonly Write[]): void {
    const { jobId, generation } = record;
    const known = this.records.get(jobId);
    must(known?.rev === replaces?.rev, `job ${jobId} was written over rev ${known?.rev}`);
    if (generation === 0 && known === undefined) this.#handedOver(record, writes);
    else if (known?.generation === generation) this.#keepsItsCounters(record, known);
    else this.#decided(record, known);
  }

  #decided(record: JobRecord, known: JobRecord | undefined): void {
    const { jobId, generation } = record;
    must(generation === (known?.generation ?? 0) + 1, `job ${jobId} went to generation ${generation}`);
    must(
      known === undefined || ['REJECTED', 'RELEASED', 'EXPIRED', 'RESERVED'].includes(known.state),
      `job ${jobId} was ${known?.state} and is evaluated again`,
    );
    const { gitlab } = this.#options;
    const isHeldByFallback = record.state === 'HELD' && record.answered === 'fallback';
    if (known?.endedAtMs !== undefined && isHeldByFallback && known.state !== 'REJECTED') {
      const { endedAtMs } = known;
      const isLater = gitlab.byId(jobId).fallback.some(({ atMs }) => atMs > endedAtMs);
      must(isLater, `job ${jobId} was ${known.state} after the fallback answered, and is held again`);
    }
    // It ran past the ledger, and the only known facts are those of the job that was retried.
    const former = known?.generation === 0 && record.unchecked === 'bypass' ? this.birth(known) : undefined;
    const birth = former ?? birthOf(record, this.#options);
    const { state, unchecked } = record;
    this.births.set(`${jobId}/${generation}`, { ...birth, state, unchecked, commit: this.commits });
  }

  /** A reservation for the retry of a rejected job counts on the limits of now; new counters follow the known ones. */
  #keepsItsCounters(record: JobRecord, known: JobRecord): void {
    const { jobId, generation } = record;
    const added = record.state === 'REJECTED' ? record.claims.slice(known.claims.length) : [];
    const described = ({ facts }: JobRecord, claims: readonly RecordClaim[]) =>
      `${facts.priceVersion} ${claims.map(({ counter }) => counterName(counter))}`;
    const kept = described(record, record.claims.slice(0, record.claims.length - added.length));
    must(
      described(known, known.claims) === kept,
      `job ${jobId} moved to ${described(record, record.claims)}`,
    );
    if (added.length === 0) return;
    must(
      isReserved(record),
      `job ${jobId} is rejected and counts on ${described(record, added)} for nothing`,
    );
    const birth = this.birth(record);
    const claims = added.map(({ counter }) => {
      const name = counterName(counter);
      const bound = highestSlots(name, record, birth, this.#options);
      must(bound !== undefined, `the retry of job ${jobId} reserves ${name}, which limits nothing of it`);
      return { counter: name, unit: 'jobs', amount: 1, bound, mode: 'enforce' } as const;
    });
    const ask = { ...birth.ask, claims: [...birth.ask.claims, ...claims] };
    this.births.set(`${jobId}/${generation}`, { ...birth, ask });
  }

  #handedOver(record: JobRecord, writes: readonly Write[]): void {
    const { jobId, state } = record;
    const [from] = writes.flatMap((write) =>
      write.kind === 'record' && write.record.jobId !== jobId && isReserved(write.replaces)
        ? [write.record]
        : [],
    );
    must(state === 'RESERVED' && from !== undefined, `job ${jobId} is ${state} without a reservation`);
    const nameOf = (id: number) =>
      `${this.#options.gitlab.byId(id).pipelineId} ${this.#options.gitlab.byId(id).jobName}`;
    must(nameOf(from.jobId) === nameOf(jobId), `job ${jobId} has the reservation of job ${from.jobId}`);
    this.births.set(`${jobId}/0`, { ...this.birth(from), state, commit: this.commits });
  }

  /** 2: in the order of arrival, each checked claim fitted its bound at commit. */
  #checkedClaimsFit(writes: readonly Write[]): void {
    const changed = new Map<string, Amounts>();
    const add = (name: string, committed: number, fitted: number): Amounts => {
      const [before = 0, fittedBefore = 0] = changed.get(name) ?? this.counters.get(name) ?? NOTHING;
      const sums = [before + committed, fittedBefore + fitted];
      changed.set(name, sums);
      return sums;
    };
    for (const write of writes) {
      if (write.kind !== 'record') continue;
      const { record, replaces } = write;
      const { jobId } = record;
      // A job may take its own reservation.
      for (const { counter, counted } of isReserved(replaces) ? replaces.claims : [])
        add(counterName(counter), -counted, -counted);
      if (record.state === 'REJECTED' && isReserved(record) && !isReserved(replaces)) {
        for (const { counter, counted } of record.claims.filter((claim) => claim.counted !== 0)) {
          const name = counterName(counter);
          const [sum = 0] = add(name, counted, counted);
          const bound = highestSlots(name, record, this.birth(record), this.#options) ?? 0;
          must(
            counted === 1 && sum <= bound,
            `the retry of job ${jobId} reserves ${name}: ${sum} over ${bound}`,
          );
        }
      }
      if (record.state !== 'HELD' || record.answered !== 'ledger') continue;
      if (this.birth(record).commit !== this.commits) continue;
      for (const [index, claim] of record.claims.entries()) {
        const name = counterName(claim.counter);
        const [committed = 0, fitted = 0] = add(name, claim.held, claim.fitted ? claim.held : 0);
        const expected = this.birth(record).ask.claims[index];
        if (expected?.bound === undefined || (expected.mode === 'shadow' && !claim.fitted)) continue;
        const sum = expected.mode === 'enforce' ? committed : fitted;
        must(
          !neverFits(expected) && sum <= expected.bound,
          `job ${jobId}: ${name} came to ${sum} over ${expected.bound}`,
        );
      }
    }
  }

  #takeRecord(record: JobRecord, touched: Set<string>): void {
    const { jobId, state } = record;
    const before = this.records.get(jobId);
    if (before !== undefined) this.#addRecord(before, -1, touched);
    this.#addRecord(record, 1, touched);
    this.records.set(jobId, record);
    if (record.dueAtMs === undefined) this.due.delete(jobId);
    else this.due.set(jobId, record.dueAtMs);
    if (state !== 'HELD' && state !== 'RUNNING' && state !== 'SETTLED') this.liveSince.delete(jobId);
    else if (!this.liveSince.has(jobId)) this.liveSince.set(jobId, this.commits);
  }

  #addRecord({ claims, state, unchecked }: JobRecord, sign: 1 | -1, touched: Set<string>): void {
    for (const claim of claims) {
      const settled = state === 'SETTLED' ? claim.counted : 0;
      this.#add(claim, sign * claim.counted, sign * settled, unchecked, touched);
    }
  }

  #takeEntry(entry: CorrectionEntry, touched: Set<string>): void {
    const entries = this.entries.get(entry.jobId) ?? [];
    this.#options.findings.compare('ends', () =>
      must(
        entry.number === entries.length + 1,
        `job ${entry.jobId} has entry ${entry.number} twice or early`,
      ),
    );
    this.entries.set(entry.jobId, [...entries, entry]);
    for (const delta of entry.deltas) this.#add(delta, delta.delta, delta.delta, entry.unchecked, touched);
  }

  #add(
    claim: Pick<RecordClaim, 'counter' | 'fitted' | 'checked'>,
    amount: number,
    settled: number,
    cause: UncheckedCause | undefined,
    touched: Set<string>,
  ): void {
    const name = counterName(claim.counter);
    touched.add(name);
    const causes = CAUSES.map((each) => (!claim.checked && each === cause ? amount : 0));
    const added = [amount, claim.fitted ? amount : 0, settled, ...causes];
    this.#sums.set(name, plus(this.#sums.get(name) ?? NOTHING, added));
  }

  #checkState(record: JobRecord): void {
    this.#chargedByItsState(record);
    this.#isAsGitLabReports(record);
    const { jobId, generation, state, claims } = record;
    if (state !== 'SETTLED') return;
    const counted = `${claims.map((claim) => claim.counted)}`;
    const first = this.#settledAt.get(`${jobId}/${generation}`) ?? counted;
    this.#settledAt.set(`${jobId}/${generation}`, first);
    must(first === counted, `job ${jobId}: settled at ${first}, edited to ${counted}`);
  }

  /** 3, 4, 5: the charge of a job follows from its state alone, over all its generations. */
  #chargedByItsState(record: JobRecord): void {
    const { jobId, state } = record;
    const entries = this.entries.get(jobId) ?? [];
    must(entries.length === record.entries, `job ${jobId}: ${entries.length} entries, not ${record.entries}`);
    const isDue = state === 'HELD' || state === 'RUNNING' || isReserved(record);
    must((record.dueAtMs !== undefined) === isDue, `job ${jobId} is ${state} and due ${record.dueAtMs}`);
    const corrections = new Map<string, number>();
    for (const { counter, delta } of entries.flatMap(({ deltas }) => deltas))
      corrections.set(counterName(counter), (corrections.get(counterName(counter)) ?? 0) + delta);
    const decided = this.decided(record);
    for (const [index, claim] of record.claims.entries()) {
      const name = counterName(claim.counter);
      const charged = claim.counted + (corrections.get(name) ?? 0);
      corrections.delete(name);
      const expected = decided.ask.claims[index];
      const wanted = expected === undefined ? 0 : chargeOf(expected, decided);
      const isReservation = isReserved(record) && expected?.unit === 'jobs';
      must(
        isReservation || charged === wanted,
        `job ${jobId} (${state}) pays ${charged} on ${name}, expected ${wanted}`,
      );
    }
    for (const [name, charge] of corrections)
      must(charge === 0, `job ${jobId} still pays ${charge} on ${name}`);
  }

  #isAsGitLabReports({ jobId, state, generation, durationSeconds }: JobRecord): void {
    const job = this.#options.gitlab.byId(jobId);
    const ran = ranSeconds(job);
    if (state === 'SETTLED')
      must(durationSeconds === ran, `job ${jobId} settled at ${durationSeconds} s, it ran ${ran} s`);
    if (state === 'RELEASED' && generation > 0)
      must(isOver(job) && ran === undefined, `job ${jobId} was freed while it is ${job.status}`);
    if (state === 'EXPIRED')
      must(job.removed, `job ${jobId} was given up while GitLab knows it as ${job.status}`);
  }
}

const plus = (a: Amounts, b: Amounts): Amounts => a.map((each, index) => each + (b[index] ?? 0));

/** The record holds a reservation: for the retry of its job, or for its job as a retry. */
export const isReserved = (record: JobRecord | undefined): record is JobRecord =>
  record?.state === 'RESERVED' || (record?.state === 'REJECTED' && record.dueAtMs !== undefined);
