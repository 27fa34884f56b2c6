import type { Directory } from '../../../policies/directory.ts';
import { periodAt } from '../../../policies/limits/period.ts';
import { compareTexts } from '../../../policies/text/plain-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { decisionIdOf } from '../../core/admission/decide.ts';
import type { CorrectionEntry, JobRecord } from '../../core/ledger/ledger.ts';
import { isLive } from '../../core/ledger/settle.ts';
import { type ChargeLine, chargeLines, isInNoGroup, recordedRoot } from '../../core/truth/job-charge.ts';
import type { BilledGroup } from './billed.ts';
import type { Statement, StatementLine } from './model.ts';

export interface TallyOptions {
  /** The first instant of the month, and the first that is no part of it, Unix ms. */
  readonly startMs: number;
  readonly endMs: number;
  readonly zone: string;
  readonly by: Statement['by'];
  /** Adds the user to a job's line. @default false */
  readonly withUsers?: boolean;
  readonly billed: Pick<BilledGroup, 'id' | 'counts'>;
  /** Leaves out jobs decided while the group was below another, which is charged for them. @default false */
  readonly chargedOnly?: boolean;
  readonly directory: Directory;
}

/** Some 400 bytes each. A statement by day of a large group has a few ten thousand. */
const LINES_MAX = 500_000;

/** Adds up jobs in any order. */
export class StatementTally {
  readonly #options: TallyOptions;
  readonly #lines = new Map<string, StatementLine>();
  #charged = 0;
  #below = 0;
  #inNoGroup = 0;
  readonly #totals = {
    jobs: 0,
    seconds: 0,
    micros: 0,
    correctedMicros: 0,
    lateMicros: 0,
    openJobs: 0,
    heldMicros: 0,
  };

  constructor(options: TallyOptions) {
    this.#options = options;
  }

  /** Returns true if the job is on the statement: a job belongs to the month of its admission. */
  has(record: JobRecord): boolean {
    const { startMs, endMs, billed, chargedOnly } = this.#options;
    if (record.decidedAtMs < startMs || record.decidedAtMs >= endMs) return false;
    if (!billed.counts(record)) {
      if (record.state === 'SETTLED' && isInNoGroup(record)) this.#inNoGroup += 1;
      return false;
    }
    const isCharged = billed.id === undefined || recordedRoot(record) === billed.id;
    if (isCharged) this.#charged += 1;
    else this.#below += 1;
    return isCharged || chargedOnly !== true;
  }

  get hasJobs(): boolean {
    return this.#charged + this.#below > 0;
  }

  /** True if the group was the top-level group of some jobs, and below another for others. */
  get isMixed(): boolean {
    return this.#charged > 0 && this.#below > 0;
  }

  /**
   * @param entries - all of the job's, in their order.
   * @throws {Error} with the remedy, when the lines become too many.
   */
  add(record: JobRecord, entries: readonly CorrectionEntry[]): void {
    if (isLive(record)) {
      this.#totals.openJobs += 1;
      this.#totals.heldMicros += record.facts.costMicros;
      return;
    }
    const charges = chargeLines(record, entries);
    if (charges.length > 0) this.#totals.jobs += 1;
    for (const charge of charges) this.#charge(record, charge);
  }

  lines(): readonly StatementLine[] {
    return [...this.#lines.values()].sort(byPlace);
  }

  totals(): Statement['totals'] {
    return { ...this.#totals };
  }

  /** Jobs of the month that no group is charged for. */
  get jobsInNoGroup(): number {
    return this.#inNoGroup;
  }

  #charge(record: JobRecord, charge: ChargeLine): void {
    const late = charge.atMs !== undefined && charge.atMs >= this.#options.endMs;
    this.#totals.seconds += charge.seconds;
    this.#totals.micros += charge.micros;
    if (charge.kind === 'correction') this.#totals.correctedMicros += charge.micros;
    if (late) this.#totals.lateMicros += charge.micros;
    const line = this.#lineOf(record, charge, late);
    const { day, runnerClass, microsPerMinute, priceVersion, kind, cause, job } = line;
    const place = [line.groupId ?? line.groupPath, line.projectId ?? line.projectPath];
    const key = JSON.stringify([
      day,
      ...place,
      runnerClass,
      microsPerMinute,
      priceVersion,
      kind,
      cause,
      late,
      job?.id,
    ]);
    const sum = this.#lines.get(key);
    if (sum === undefined && this.#lines.size >= LINES_MAX)
      throw new Error(`the statement has more than ${LINES_MAX} lines: use --by day, or a smaller group`);
    const { jobs = 0, seconds = 0, micros = 0 } = sum ?? {};
    this.#lines.set(key, {
      ...(sum ?? line),
      ...{ jobs: jobs + line.jobs, seconds: seconds + line.seconds, micros: micros + line.micros },
    });
  }

  #lineOf(record: JobRecord, charge: ChargeLine, late: boolean): StatementLine {
    const { by, zone, withUsers } = this.#options;
    const { facts, jobId, unchecked } = record;
    const { kind, cause, seconds, micros } = charge;
    const { runnerClass, microsPerMinute, priceVersion, jobName: name, pipelineId } = facts;
    const day = periodAt('day', zone, record.decidedAtMs);
    return {
      ...{ day: day.key, dayStartMs: day.startMs, dayEndMs: day.endMs },
      ...placeOf(record, this.#options.directory),
      ...{ runnerClass, microsPerMinute, priceVersion, kind, ...withoutAbsent({ cause }), late },
      ...{ jobs: 1, seconds, micros },
      ...(by === 'job' && {
        job: {
          ...{ id: jobId, decisionId: decisionIdOf(record) },
          ...withoutAbsent({ name, pipelineId, unchecked, user: withUsers ? userOf(facts) : undefined }),
        },
      }),
    };
  }
}

const userOf = ({ userId, userPseudonym }: JobRecord['facts']): string | undefined =>
  userId === undefined ? userPseudonym : String(userId);

/** Ids decide; paths are those of the directory, else of the record. */
function placeOf({ facts }: JobRecord, { groupById, projectById }: Directory) {
  const { rootId, groupId, projectId } = facts;
  const above = facts.projectPath?.slice(0, Math.max(0, facts.projectPath.lastIndexOf('/')));
  return withoutAbsent({
    ...{ rootId, groupId, projectId },
    rootPath: groupById.get(rootId ?? 0)?.path ?? above?.split('/')[0],
    groupPath: groupById.get(groupId ?? 0)?.path ?? above,
    projectPath: projectById.get(projectId ?? 0)?.path ?? facts.projectPath,
  });
}

const byPlace = (a: StatementLine, b: StatementLine): number =>
  a.dayStartMs - b.dayStartMs ||
  compareTexts(a.groupPath, b.groupPath) ||
  compareTexts(a.projectPath, b.projectPath) ||
  compareTexts(a.runnerClass, b.runnerClass) ||
  (a.job?.id ?? 0) - (b.job?.id ?? 0) ||
  compareTexts(a.priceVersion, b.priceVersion) ||
  compareTexts(b.kind, a.kind) ||
  compareTexts(a.cause, b.cause) ||
  Number(a.late) - Number(b.late);
