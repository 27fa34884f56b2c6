/** A deployment as CloudWatch sees it: what each part of it writes in a minute while it works, and what it writes when it does not. */
import type { Series } from '../../cdk/monitoring/series.ts';
import type { ValuesOf } from '../support/relay/alarm-state.ts';

/** What is wrong; nothing of it in a deployment that works. */
export interface Trouble {
  readonly relays?: 'none' | 'one missing' | 'no stream' | 'late' | 'suspect schema' | 'own faults';
  /** Share of the calls that fail or are throttled. */
  readonly admitFails?: number;
  readonly admitThrottled?: number;
  readonly tableThrottles?: true;
  readonly relaysWithoutDirectory?: true;
  readonly webhooks?: 'none' | 'some refused' | 'all refused' | 'throttled' | 'broken';
  readonly settleStream?: 'source off' | 'failing';
  readonly rollup?: 'source off' | 'failing';
  readonly deadLetters?: true;
  readonly gitLabSilent?: true;
  readonly programs?: Readonly<Partial<Record<Scheduled, 'rule off' | 'failing'>>>;
  readonly console?: 'broken' | 'throttled';
  /** Share of the jobs. */
  readonly rejected?: number;
  /** That the hourly health check finds. */
  readonly healthProblems?: number;
}

/** What runs by the clock: every so many minutes, from the given one on. */
const SCHEDULES = {
  sweep: [1, 0],
  watchdog: [1, 0],
  directory: [5, 2],
  'ssm-limits': [5, 3],
  notices: [15, 7],
  requeue: [1, 0],
  drift: [15, 8],
  doctor: [60, 41],
} as const;
type Scheduled = keyof typeof SCHEDULES;

const JOBS_PER_MINUTE = 30;
/** GitLab tells each step of a job; the last one is its end. */
const WEBHOOKS_PER_JOB = 4;
const RELAYS = 2;
const LISTED_AGE_SECONDS = 200;

export class SimulatedSite {
  readonly #values = new Map<string, number[][]>();
  #minute = 0;
  /** Since when parts do not keep up, minutes. */
  readonly #behind = { unlisted: 0, unheard: 0, settle: 0, rollup: 0 };

  get minutes(): number {
    return this.#minute;
  }

  /** Goes on from here by itself. */
  copy(): SimulatedSite {
    const site = new SimulatedSite();
    for (const [key, values] of this.#values) site.#values.set(key, [...values]);
    Object.assign(site.#behind, this.#behind);
    site.#minute = this.#minute;
    return site;
  }

  run(minutes: number, trouble: Trouble = {}): void {
    for (let passed = 0; passed < minutes; passed += 1) {
      this.#scheduled(trouble);
      this.#relays(trouble);
      this.#ends(trouble);
      this.#minute += 1;
    }
  }

  readonly within =
    (from: number, to: number): ValuesOf =>
    (series) => {
      const of = this.#values.get(keyOf(series)) ?? [];
      const found: number[] = [];
      for (let minute = from; minute < to; minute += 1) found.push(...(of[minute] ?? []));
      return found;
    };

  #write(of: string, metric: string, ...values: readonly number[]): void {
    const key = `${of} ${metric}`;
    const all = this.#values.get(key) ?? [];
    all[this.#minute] = [...(all[this.#minute] ?? []), ...values];
    this.#values.set(key, all);
  }

  /** Zeros are not written. */
  #own(metric: string, value: number): void {
    if (value !== 0) this.#write('tollgate', metric, value);
  }

  #called(program: string, calls: number, errors = 0): void {
    this.#write(`function/${program}`, 'Invocations', calls);
    this.#write(`function/${program}`, 'Errors', errors);
  }

  #scheduled({ programs = {}, gitLabSilent, ...trouble }: Trouble): void {
    const works = (program: Scheduled): boolean => {
      const [every, first] = SCHEDULES[program];
      if (programs[program] === 'rule off' || this.#minute % every !== first % every) return false;
      const failing = programs[program] === 'failing';
      this.#called(program, 1, failing ? 1 : 0);
      return !failing;
    };
    const own = (metric: string, value: number): void => this.#own(metric, value);
    if (works('sweep')) {
      own('GitLabSilent', gitLabSilent ? 1 : 0);
      own('RanJobs', gitLabSilent ? 0 : JOBS_PER_MINUTE);
    }
    this.#behind.unlisted += 1;
    if (works('directory')) {
      if (!gitLabSilent) this.#behind.unlisted = 0;
      own('DirectoryAgeSeconds', LISTED_AGE_SECONDS + this.#behind.unlisted * 60);
    }
    works('drift');
    if (works('doctor')) own('HealthProblems', trouble.healthProblems ?? 0);
    for (const program of ['ssm-limits', 'notices', 'requeue', 'watchdog'] as const) works(program);
    this.#write('function/console', 'Url5xxCount', trouble.console === 'broken' ? 5 : 0);
    if (trouble.console === 'throttled') this.#write('function/console', 'Throttles', 50);
    if (trouble.tableThrottles) this.#write('table', 'WriteThrottleEvents', 200);
  }

  #relays({
    relays,
    admitFails = 0,
    admitThrottled = 0,
    relaysWithoutDirectory,
    rejected = 0.03,
  }: Trouble): void {
    const failed = admitFails + admitThrottled;
    this.#behind.unheard = relaysWithoutDirectory || failed >= 1 ? this.#behind.unheard + 1 : 0;
    if (relays === 'none') return;
    const alive = relays === 'one missing' ? RELAYS - 1 : RELAYS;
    const asked = relays === 'no stream' ? 0 : JOBS_PER_MINUTE / alive;
    const suspect = relays === 'suspect schema';
    for (let relay = 0; relay < alive; relay += 1) {
      const own = (metric: string, value: number): void => this.#own(metric, value);
      own('StreamsOpen', relays === 'no stream' ? 0 : 8);
      own('Requests', asked);
      own('Admitted', asked * (1 - rejected));
      own('Rejected', asked * rejected);
      own('FallbackAnswers', asked * failed);
      own('UnreadableRequests', suspect ? asked / 2 : 0);
      own('SchemaSuspect', suspect ? 1 : 0);
      own('RejectionsWithheld', suspect ? 2 : 0);
      own('OwnFaults', relays === 'own faults' ? 1 : 0);
      if (asked > 0) own('AnswerLatencyMs', relays === 'late' ? 1_800 : 40);
      const directoryAge = LISTED_AGE_SECONDS + (this.#behind.unlisted + this.#behind.unheard) * 60;
      own('RelayDirectoryAgeSeconds', directoryAge < 900 ? 0 : directoryAge);
    }
    const calls = asked * alive;
    this.#called('admit', calls * (1 - admitThrottled), calls * admitFails);
    if (admitThrottled > 0) this.#write('function/admit', 'Throttles', calls * admitThrottled);
  }

  #ends({ relays, webhooks, settleStream, rollup, deadLetters }: Trouble): void {
    const ended = relays === 'none' || relays === 'no stream' ? 0 : JOBS_PER_MINUTE;
    const told = ended * WEBHOOKS_PER_JOB;
    const lost = { none: 1, 'all refused': 1, throttled: 0.5, broken: 0.5, 'some refused': 0 } as const;
    const handedOn = ended * (1 - (webhooks === undefined ? 0 : lost[webhooks]));
    if (told > 0 && webhooks !== 'none') this.#write('function/settle', 'Invocations', told);
    const counted = { 'some refused': 'Url4xxCount', 'all refused': 'Url4xxCount', throttled: 'Url4xxCount' };
    if (webhooks === 'broken') this.#write('function/settle', 'Url5xxCount', told / 2);
    else if (webhooks !== undefined && webhooks !== 'none')
      this.#write('function/settle', counted[webhooks], webhooks === 'throttled' ? told / 2 : told);

    if (handedOn > 0 && settleStream !== 'source off') {
      this.#behind.settle = settleStream === 'failing' ? this.#behind.settle + 1 : 0;
      this.#write('function/settle-stream', 'IteratorAge', 1_000 + this.#behind.settle * 60_000);
      this.#called('settle-stream', 6, settleStream === 'failing' ? 6 : 0);
      if (settleStream !== 'failing') {
        this.#write('tollgate', 'JobEvents', handedOn);
        this.#write('tollgate', 'SettlementLagSeconds', 5);
      }
    }
    // Whatever no webhook ended is settled by the sweep: where jobs end there is something to sum up.
    if (ended > 0 && rollup !== 'source off') {
      this.#behind.rollup = rollup === 'failing' ? this.#behind.rollup + 1 : 0;
      this.#write('function/rollup', 'IteratorAge', 5_000 + this.#behind.rollup * 60_000);
      this.#called('rollup', 6, rollup === 'failing' ? 6 : 0);
    }
    this.#write('dead-letters/settle-stream', 'ApproximateNumberOfMessagesVisible', deadLetters ? 1 : 0);
    this.#write('dead-letters/rollup', 'ApproximateNumberOfMessagesVisible', 0);
  }
}

const keyOf = (series: Series): string => `${series.from === 'aws' ? series.of : 'tollgate'} ${series.name}`;
