import { type GitLabJob, isTerminal } from '../../../functions/core/gitlab/gitlab.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../policies/limits/calendar.ts';
import { seededRandom } from '../../../scripts/local/random.ts';
import type { RollupFault } from '../../support/ledger/memory-rollup-store.ts';
import type { StoreFault, StoreOperation } from '../../support/ledger/memory-store.ts';
import { Agenda } from '../agenda.ts';
import { audit } from '../audit.ts';
import { must } from '../findings.ts';
import { isOver, ranSeconds, type TrueJob } from '../gitlab.ts';
import type { Parts } from '../parts.ts';
import type { EstimateBasis } from '../rulebook/asked-claims.ts';
import { World } from '../world.ts';
import type { MonthJob, Workload } from './draw.ts';
import { drawRuleSets } from './edits.ts';
import { type Question, type RelayAnswer, Relays } from './relays.ts';
import {
  ESTIMATE_DEFAULT_SECONDS,
  MONTH_DAYS,
  MONTH_START_MS,
  OUTAGE,
  RUNNER_CLASSES,
  RUNNERS_PER_CLASS,
  STREAM,
  TABLE_FAULTS,
  TABLE_SILENT,
  ZONE,
} from './shape.ts';
import { ExpectedWaits } from './waits.ts';

export interface MonthOptions {
  readonly workload: Workload;
  /** With `history`, the product's own, the table's stream is rolled up as well. */
  readonly estimate: EstimateBasis;
  readonly parts?: Partial<Parts>;
  readonly days?: number;
  readonly stopsAtFinding?: boolean;
}

export type MonthResult = Awaited<ReturnType<typeof simulateMonth>>;

const BATCH_MS = 250;
const STREAM_WINDOW_MS = 5_000;
const REFUSED_MS = 200;
/** The sweep finds a job without admission by then, however long GitLab and the table were away. */
const FOUND_WITHIN_MS = 8 * HOUR_MS;

export async function simulateMonth(options: MonthOptions) {
  const month = new Month(options);
  await month.run();
  return month.result();
}

class Month {
  readonly #options: MonthOptions;
  readonly #world: World;
  readonly #waits: ExpectedWaits;
  readonly #relays: Relays;
  readonly #planned: ReadonlyMap<number, MonthJob>;
  readonly #rollsUp: boolean;
  /** Later requests of jobs whose first answer is lost. */
  readonly #again = new Agenda<Question>();
  readonly #hooks = new Agenda<GitLabJob>();
  readonly #count = { admitted: 0, rejected: 0, askedAgain: 0, bypass: 0, unchanged: 0 };
  readonly #sweeps = { silent: 0, healed: 0, due: 0, unadmitted: 0 };
  readonly #random: () => number;
  #position = 0;

  constructor(options: MonthOptions) {
    const { workload, estimate, parts } = options;
    const { shape, groups, projects, jobs } = workload;
    this.#options = options;
    this.#rollsUp = estimate === 'history';
    this.#planned = new Map(jobs.map((job) => [job.jobId, job]));
    this.#random = seededRandom(shape.seed + 9);
    const faults = seededRandom(shape.seed + 2);
    const ruleSets = drawRuleSets(workload);
    this.#world = new World({
      ...{ seed: shape.seed + 20, startMs: MONTH_START_MS, ruleSets, estimate, zone: ZONE, isQuick: true },
      company: {
        names: new Map([...groups, ...projects].map(({ id, name }) => [id, name])),
        classes: RUNNER_CLASSES,
        estimateSeconds: ESTIMATE_DEFAULT_SECONDS,
      },
      chargeUnknown: 'nothing',
      runnerIds: Array.from({ length: RUNNER_CLASSES.length * RUNNERS_PER_CLASS }, (_, index) => index + 1),
      jobsPerPage: 100,
      fault: (operation) => tableFault(operation, this.#world.clock.nowMs(), faults),
      rollupFault: () => rollupFault(this.#random()),
      ...(parts !== undefined && { parts }),
      onHook: (job, gitlabJob) => this.#send(job, gitlabJob),
      onRecord: ({ state, unchecked, generation }) => {
        if (state === 'SETTLED' && unchecked === 'bypass' && generation === 1) this.#count.bypass += 1;
      },
    });
    this.#waits = new ExpectedWaits(this.#world);
    this.#relays = new Relays(this.#world, this.#waits);
  }

  async run(): Promise<void> {
    const { clock, findings, gitlab } = this.#world;
    const { days = MONTH_DAYS + 1, stopsAtFinding = false } = this.#options;
    const untilMs = MONTH_START_MS + days * DAY_MS;
    for (let minuteMs = MONTH_START_MS; minuteMs < untilMs; minuteMs += MINUTE_MS) {
      if (stopsAtFinding && findings.errors.length > 0) return;
      const endMs = minuteMs + MINUTE_MS;
      await this.#untilEndOf(endMs);
      clock.advanceTo(endMs);
      await this.#relays.postUnmetered();
      gitlab.availability = isIn(OUTAGE, clock.nowMs()) ? 'away' : 'answers';
      await this.#sweep();
      if (this.#rollsUp) await this.#rollUp(STREAM.batchImages);
    }
    for (const job of gitlab.jobs.values()) {
      const ranUnseen = ranSeconds(job) !== undefined && !this.#world.books.records.has(job.jobId);
      if (ranUnseen && (job.finishedAtMs ?? 0) + FOUND_WITHIN_MS <= clock.nowMs())
        findings.compare('ends', () => must(false, `job ${job.jobId} ran and is in no record`));
    }
    if (this.#rollsUp) await this.#rollUp(1);
  }

  async result() {
    const { findings } = this.#world;
    const problems = await audit(this.#world);
    const { answeredTwoWays, unmeteredLeft } = this.#relays.counts;
    return {
      ...this.#count,
      ...{ relays: this.#relays.counts, sweeps: this.#sweeps, waits: this.#waits.counts },
      comparisons: findings.comparisons,
      problems: [
        ...problems,
        ...(answeredTwoWays > 0 ? [`${answeredTwoWays} jobs were answered twice and differently`] : []),
        ...(unmeteredLeft > 0 ? [`${unmeteredLeft} fallback answers were never posted`] : []),
      ],
    };
  }

  async #untilEndOf(endMs: number): Promise<void> {
    const { clock, gitlab } = this.#world;
    const { jobs } = this.#options.workload;
    for (;;) {
      const askMs = Math.min(jobs[this.#position]?.askedAtMs ?? Number.POSITIVE_INFINITY, this.#again.nextMs);
      const hooksMs =
        this.#hooks.nextMs < endMs
          ? Math.min(endMs - 1, this.#hooks.nextMs + STREAM_WINDOW_MS)
          : Number.POSITIVE_INFINITY;
      const changeMs = gitlab.agenda.nextMs;
      const nextMs = Math.min(askMs, hooksMs, changeMs, this.#relays.nextMs);
      if (nextMs >= endMs) return;
      if (changeMs === nextMs) {
        clock.advanceTo(nextMs);
        gitlab.catchUp();
        continue;
      }
      if (askMs === nextMs) await this.#ask(Math.min(askMs + BATCH_MS, endMs));
      else {
        clock.advanceTo(nextMs);
        if (hooksMs === nextMs) await this.#settle(endMs);
        else this.#receive(await this.#relays.work());
      }
      this.#waits.look();
    }
  }

  async #ask(untilMs: number): Promise<void> {
    const { clock, gitlab } = this.#world;
    const arriving: Question[] = [];
    const { jobs } = this.#options.workload;
    for (let plan = jobs[this.#position]; plan !== undefined && plan.askedAtMs < untilMs; ) {
      this.#position += 1;
      const { askedAtMs: atMs, askedAgainMs } = plan;
      const job = gitlab.create(plan, atMs);
      arriving.push({ job, atMs, isHeard: askedAgainMs === undefined });
      if (askedAgainMs !== undefined)
        this.#again.add(atMs + askedAgainMs, { job, atMs: atMs + askedAgainMs, isHeard: true });
      plan = jobs[this.#position];
    }
    arriving.push(...this.#again.takeAll(untilMs - 1));
    arriving.sort((a, b) => a.atMs - b.atMs);
    clock.advanceTo(arriving.at(-1)?.atMs ?? clock.nowMs());
    const byRoot = new Map<number, Question[]>();
    for (const question of arriving) {
      if (this.#plan(question.job).outcome === 'bypass') {
        this.#start(question.job);
        continue;
      }
      if (!question.isHeard) this.#count.askedAgain += 1;
      const root = this.#world.rootOf(question.job.projectId);
      byRoot.set(root, [...(byRoot.get(root) ?? []), question]);
    }
    for (const questions of byRoot.values()) this.#receive(await this.#relays.ask(questions));
  }

  #receive(answers: readonly RelayAnswer[]): void {
    for (const { question, outcome } of answers) {
      const { job, isHeard } = question;
      if (!isHeard) continue;
      const isRejected = outcome.outcome === 'rejected';
      this.#count[isRejected ? 'rejected' : 'admitted'] += 1;
      if (!isRejected) this.#start(job);
    }
  }

  #plan({ jobId }: TrueJob): MonthJob {
    const plan = this.#planned.get(jobId);
    if (plan === undefined) throw new RangeError(`job ${jobId} is not planned`);
    return plan;
  }

  #start(job: TrueJob): void {
    const { gitlab, clock } = this.#world;
    const { queueMs, durationSeconds, outcome } = this.#plan(job);
    const startsAtMs = Math.ceil((clock.nowMs() + queueMs) / 1_000) * 1_000;
    const endsAtMs = startsAtMs + Math.round(durationSeconds * 1000);
    const at = (atMs: number, change: () => void): void => gitlab.agenda.add(atMs, change);
    if (outcome === 'canceledBeforeStart') {
      at(startsAtMs, () => gitlab.end(job, 'canceled', startsAtMs));
    } else if (outcome === 'routerFailure') {
      const endMs = startsAtMs + REFUSED_MS;
      at(endMs, () => gitlab.refuse(job, startsAtMs, endMs));
    } else {
      at(startsAtMs, () => gitlab.start(job, startsAtMs));
      at(endsAtMs, () =>
        outcome === 'vanished' ? gitlab.remove(job) : gitlab.end(job, 'success', endsAtMs),
      );
    }
  }

  /** Webhooks come as planned: of the end, and of the start after the end. All are lost while GitLab is away. */
  #send(job: TrueJob, gitlabJob: GitLabJob): void {
    const { endDelaysMs, lateRunningMs, durationSeconds } = this.#plan(job);
    const isEnd = isOver(job);
    const endsAtMs = job.finishedAtMs ?? (job.startedAtMs ?? 0) + Math.round(durationSeconds * 1000);
    const delays = isEnd ? endDelaysMs : lateRunningMs === undefined ? [] : [lateRunningMs];
    for (const atMs of delays.map((delayMs) => endsAtMs + delayMs))
      if (!isIn(OUTAGE, endsAtMs) && !isIn(OUTAGE, atMs)) this.#hooks.add(atMs, gitlabJob);
  }

  async #settle(againMs: number): Promise<void> {
    const { clock, gitlab } = this.#world;
    gitlab.catchUp();
    const heard = this.#hooks.takeAll(clock.nowMs());
    for (const isEnd of [false, true]) {
      const some = heard.filter(({ status }) => isTerminal(status) === isEnd);
      const gitlabJobs = [...new Map(some.map((gitlabJob) => [gitlabJob.jobId, gitlabJob])).values()];
      if (gitlabJobs.length === 0) continue;
      const ended = await this.#world.endJobs(this.#world.process('settle'), gitlabJobs);
      if (ended === undefined || ended.undecided > 0)
        for (const gitlabJob of gitlabJobs) this.#hooks.add(againMs, gitlabJob);
      else if (isEnd) this.#count.unchanged += ended.kept;
    }
  }

  async #sweep(): Promise<void> {
    const report = await this.#world.sweep(this.#world.process('sweep 0'));
    if (report === undefined) return;
    const { settled, released, expired, due, unadmitted, gitlabSilent } = report;
    const sweeps = this.#sweeps;
    sweeps.healed += settled + released + expired;
    sweeps.due += due;
    sweeps.unadmitted += unadmitted;
    if (gitlabSilent) sweeps.silent += 1;
  }

  async #rollUp(least: number): Promise<void> {
    const { rollup } = this.#world;
    while (rollup.waiting >= least) {
      const from = rollup.position;
      await rollup.deliver(STREAM.batchImages);
      if (this.#random() < STREAM.repeated) await rollup.repeat(from, STREAM.batchImages);
    }
  }
}

const isIn = (
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
  atMs: number,
): boolean => atMs >= fromMs && atMs < untilMs;

/** The table fails now and then by chance, and for ten minutes altogether. */
function tableFault(operation: StoreOperation, nowMs: number, random: () => number): StoreFault | undefined {
  if (isIn(TABLE_SILENT, nowMs)) return { kind: 'lost-before' };
  if (operation !== 'transact') return undefined;
  const share = random();
  const { conflict, throttle, lostAnswer } = TABLE_FAULTS;
  if (share < conflict) return { kind: 'conflict' };
  if (share < conflict + throttle) return { kind: 'throttle' };
  return share < conflict + throttle + lostAnswer ? { kind: 'lost-after' } : undefined;
}

function rollupFault(share: number): RollupFault | undefined {
  if (share < STREAM.contended) return 'contended';
  if (share < STREAM.contended + STREAM.lost) return 'lost-before';
  return share < STREAM.contended + 2 * STREAM.lost ? 'lost-after' : undefined;
}
