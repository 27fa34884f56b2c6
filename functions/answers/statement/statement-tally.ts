import { type CounterKey, counterName } from '../../../policies/claim.ts';
import { type Period, periodAt } from '../../../policies/limits/period.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { compareTexts } from '../../../policies/text/compare-texts.ts';
import { unitRow } from '../../../policies/units/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { type CorrectionEntry, type Counter, isLive, type JobRecord } from '../../core/ledger/index.ts';
import { type ChargeLine, chargeLines, isInNoGroup } from '../../core/truth/index.ts';
import type { ControlSum, StatementGrain, StatementLine, StatementTotals } from './model.ts';

export interface TallyOptions {
  readonly month: Period;
  readonly zone: string;
  readonly by: StatementGrain;
  /** Whether the line of a job says who started it. @default false */
  readonly withUsers?: boolean;
  /** Whether a record's job belongs to the group. */
  readonly counts: (record: JobRecord) => boolean;
  /** `group/101`, where its id is known, or `instance`. */
  readonly subject: string | undefined;
  /** Ids of the group's limits of money in this month: their counters are compared. */
  readonly limitIds: ReadonlySet<string>;
  readonly directory: Directory;
}

/** Some 400 bytes each. A statement by day of a large group has a few ten thousand. */
const LINES_MAX = 500_000;

/** Adds jobs up, one by one and in any order. */
export class StatementTally {
  readonly #options: TallyOptions;
  readonly #lines = new Map<string, StatementLine>();
  /** Keyed by `counterName`. */
  readonly #settled = new Map<string, number>();
  readonly #shown = new Map<string, number>();
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

  /** Whether the job is part of the statement: a job belongs as a whole to the month of its admission. */
  has(record: JobRecord): boolean {
    const { month, counts } = this.#options;
    if (record.decidedAtMs < month.startMs || record.decidedAtMs >= month.endMs) return false;
    if (counts(record)) return true;
    if (record.state === 'SETTLED' && isInNoGroup(record)) this.#inNoGroup += 1;
    return false;
  }

  /**
   * @param entries - all of the job's, in their order.
   * @throws {Error} with the remedy, when the lines become too many.
   */
  add(record: JobRecord, entries: readonly CorrectionEntry[]): void {
    this.#settle(record);
    if (isLive(record)) {
      this.#totals.openJobs += 1;
      this.#totals.heldMicros += record.facts.costMicros;
      return;
    }
    const charges = chargeLines(record, entries);
    if (charges.length > 0) this.#totals.jobs += 1;
    for (const charge of charges) this.#charge(record, charge);
  }

  addCounter({ key, settled }: Counter): void {
    if (this.#isControl(key)) this.#shown.set(counterName(key), settled);
  }

  lines(): readonly StatementLine[] {
    return [...this.#lines.values()].sort(byPlace);
  }

  totals(): StatementTotals {
    return { ...this.#totals };
  }

  /** Jobs of the month, among those asked about, that no group is charged for. */
  get jobsInNoGroup(): number {
    return this.#inNoGroup;
  }

  /** Compares the group's own counters of money in this month. */
  controls(): readonly ControlSum[] {
    return [...this.#settled.keys()].sort().map((counter) => ({
      counter,
      shownMicros: this.#shown.get(counter) ?? 0,
      settledMicros: this.#settled.get(counter) ?? 0,
    }));
  }

  #isControl({ subject, limit, period }: CounterKey): boolean {
    const { subject: own, month, limitIds } = this.#options;
    return subject === own && limitIds.has(limit) && period === month.key;
  }

  #settle(record: JobRecord): void {
    for (const { counter, unit, counted, corrected } of record.claims) {
      if (!unitRow(unit).inCurrency || !this.#isControl(counter)) continue;
      const name = counterName(counter);
      const settled = (record.state === 'SETTLED' ? counted : 0) + corrected;
      this.#settled.set(name, (this.#settled.get(name) ?? 0) + settled);
    }
  }

  #charge(record: JobRecord, charge: ChargeLine): void {
    const late = charge.atMs !== undefined && charge.atMs >= this.#options.month.endMs;
    this.#totals.seconds += charge.seconds;
    this.#totals.micros += charge.micros;
    if (charge.kind === 'correction') this.#totals.correctedMicros += charge.micros;
    if (late) this.#totals.lateMicros += charge.micros;
    const line = this.#lineOf(record, charge, late);
    const key = JSON.stringify([
      line.day,
      line.groupId ?? line.groupPath,
      line.projectId ?? line.projectPath,
      line.runnerClass,
      line.microsPerMinute,
      line.priceVersion,
      line.kind,
      line.cause,
      line.late,
      line.job?.id,
    ]);
    const sum = this.#lines.get(key);
    if (sum === undefined && this.#lines.size >= LINES_MAX)
      throw new Error(`the statement has more than ${LINES_MAX} lines: use --by day, or a smaller group`);
    this.#lines.set(
      key,
      sum === undefined
        ? line
        : {
            ...sum,
            jobs: sum.jobs + line.jobs,
            seconds: sum.seconds + line.seconds,
            micros: sum.micros + line.micros,
          },
    );
  }

  #lineOf(record: JobRecord, charge: ChargeLine, late: boolean): StatementLine {
    const { by, zone, withUsers } = this.#options;
    const { facts, jobId, generation, unchecked } = record;
    const day = periodAt('day', zone, record.decidedAtMs);
    return {
      day: day.key,
      dayStartMs: day.startMs,
      dayEndMs: day.endMs,
      ...placeOf(record, this.#options.directory),
      runnerClass: facts.runnerClass,
      microsPerMinute: facts.microsPerMinute,
      priceVersion: facts.priceVersion,
      kind: charge.kind,
      ...(charge.cause !== undefined && { cause: charge.cause }),
      late,
      jobs: 1,
      seconds: charge.seconds,
      micros: charge.micros,
      ...(by === 'job' && {
        job: {
          id: jobId,
          decisionId: `d-${jobId}-${generation}`,
          ...withoutAbsent({ name: facts.jobName, pipelineId: facts.pipelineId, unchecked }),
          ...(withUsers && userOf(facts)),
        },
      }),
    };
  }
}

const userOf = ({ userId, userPseudonym }: JobRecord['facts']): { readonly user?: string } => {
  const user = userId === undefined ? userPseudonym : String(userId);
  return user === undefined ? {} : { user };
};

type Place = Pick<
  StatementLine,
  'rootId' | 'rootPath' | 'groupId' | 'groupPath' | 'projectId' | 'projectPath'
>;

/** Ids decide; paths as the directory has them now, else as the job's record. */
function placeOf({ facts }: JobRecord, { groupById, projectById }: Directory): Place {
  const { rootId, groupId, projectId } = facts;
  const projectPath =
    (projectId === undefined ? undefined : projectById.get(projectId)?.path) ?? facts.projectPath;
  const above = facts.projectPath?.slice(0, Math.max(0, facts.projectPath.lastIndexOf('/')));
  const groupPath = (groupId === undefined ? undefined : groupById.get(groupId)?.path) ?? above;
  const rootPath = (rootId === undefined ? undefined : groupById.get(rootId)?.path) ?? above?.split('/')[0];
  return withoutAbsent({ rootId, rootPath, groupId, groupPath, projectId, projectPath });
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
