/** Runs a plan: a safety phase with its actions and faults, then a liveness phase without faults in which all must converge. */

import type { UnmeteredAnswer } from '../../functions/core/contract/admissions.ts';
import { type GitLabJob, isTerminal } from '../../functions/core/gitlab/gitlab.ts';
import { hintText, parseHintText } from '../../functions/core/job-ends/webhook-hints.ts';
import { inboxItem } from '../../functions/core/ledger/items.ts';
import type { InboxItem } from '../../functions/core/ledger/store.ts';
import { retryClaims } from '../../functions/core/requeue-list.ts';
import { consume, type TableStreamRecord } from '../../functions/settle/consume.ts';
import { DAY_MS, HOUR_MS } from '../../policies/limits/calendar.ts';
import { audit } from './audit.ts';
import { must } from './findings.ts';
import { isOver, type JobPlan, type TrueJob } from './gitlab.ts';
import { type Action, COMPANY, edited, FIRST_RULES, type Plan, RUNNERS, ZONE } from './plan.ts';
import { Interleaver, type Process } from './process.ts';
import { dayIn } from './rulebook/rule-set.ts';
import { onlyUnavailable, PROCESSES, type ProcessName, World } from './world.ts';

const MINUTE_MS = 60_000;
const EVERYTHING_DUE_MS = 2 * DAY_MS + HOUR_MS;
const ROUNDS_MAX = 20;
const WAITS_MS_MAX = 5 * DAY_MS;
const ROUTER_MS = 200;

export async function run(plan: Plan): Promise<World> {
  const simulation = new Simulation(plan);
  await simulation.safety();
  await simulation.liveness();
  return simulation.world;
}

class Simulation {
  readonly world: World;
  readonly #plan: Plan;
  readonly #interleaver: Interleaver;
  readonly #faults: Plan['faults'][number][] = [];
  readonly #jobs = new Map<number, TrueJob>();
  readonly #hooks: { readonly id: string; readonly gitlabJob: GitLabJob }[] = [];
  /** The inbox as the table's stream brings it: in order, and again from the first that failed. */
  readonly #stream: { readonly record: TableStreamRecord; readonly jobId: number }[] = [];
  #read = 0;
  readonly #heard = new Set<number>();
  readonly #unmetered: [UnmeteredAnswer[], UnmeteredAnswer[]] = [[], []];
  #deliveries = 0;

  constructor(plan: Plan) {
    const { seed, startMs, chargeUnknown } = plan;
    this.#plan = plan;
    this.#interleaver = new Interleaver(seed);
    this.world = new World({
      ...{ seed, startMs, chargeUnknown, company: COMPANY, ruleSets: [FIRST_RULES], estimate: 'default' },
      ...{ zone: ZONE, runnerIds: RUNNERS, jobsPerPage: 3, interleaver: this.#interleaver },
      fault: () => this.#faults.shift() ?? undefined,
      onHook: (_job, gitlabJob) => void this.#hooks.push({ id: this.#newDeliveryId(), gitlabJob }),
      onReceived: (item) => this.#received(item),
    });
  }

  async safety(): Promise<void> {
    await this.#all([() => this.#sweep('sweep 0', null)]);
    this.#faults.push(...this.#plan.faults);
    for (const action of this.#plan.actions) {
      const actions = action.do === 'together' ? action.actions : [action];
      this.world.isCalm = actions.length === 1;
      await this.#all(
        actions.map((one) => async () => {
          await this.#interleaver.turn();
          await this.#perform(one);
        }),
      );
    }
  }

  /** Faults stop, all jobs end, and two sweeps later nothing may be held for a job that GitLab knows to be over. */
  async liveness(): Promise<void> {
    const { world } = this;
    const { gitlab, books } = world;
    this.#faults.length = 0;
    world.skewMs.clear();
    gitlab.availability = 'answers';
    gitlab.tokenSees = true;
    for (const job of gitlab.jobs.values())
      if (!job.removed && !isOver(job)) this.#end(job, job.status === 'pending' ? 'canceled' : 'success');
    for (const relay of [0, 1]) await this.#act({ do: 'postUnmetered', relay, dieAfter: null });
    if (this.#plan.lastHooks === 'arrive') await this.#deliverAll();
    await this.#consumeAll();
    // A clock that was stepped back needs five minutes more.
    for (const minutes of [8, 3]) {
      world.pass(minutes * MINUTE_MS);
      await this.#act({ do: 'sweep', by: 0, dieAfter: null });
    }
    for (const { jobId, state } of books.records.values()) {
      const job = gitlab.byId(jobId);
      const isHeld = (state === 'HELD' || state === 'RUNNING') && isOver(job) && !job.removed;
      must(!isHeld, `job ${jobId} is ${job.status} and still holds after two sweeps`);
    }
    for (let round = 0; round < 3; round += 1) {
      world.pass(EVERYTHING_DUE_MS);
      await this.#act({ do: 'sweep', by: round % 2, dieAfter: null });
    }
    if (this.#plan.lastHooks === 'arrive late') await this.#deliverAll();
    await this.#consumeAll();
    await world.rollup.deliver(world.rollup.waiting);
    let problems: readonly string[] = [];
    await this.#all([
      async () => {
        problems = await audit(world, this.#heard);
      },
    ]);
    must(problems.length === 0, problems[0] ?? '');
  }

  #act(action: Action): Promise<void> {
    return this.#all([() => this.#perform(action)]);
  }

  async #all(tasks: readonly (() => Promise<unknown>)[]): Promise<void> {
    const failed = await this.#interleaver.run(tasks).then(
      () => [],
      (error: unknown) => [error],
    );
    // A commit that broke a promise comes first: other errors follow from it.
    const [wrong] = [...this.world.findings.errors, ...failed];
    if (wrong !== undefined) throw wrong;
  }

  async #deliverAll(): Promise<void> {
    while (this.#hooks.length > 0) await this.#act({ do: 'deliver', pick: 0, again: 'no' });
  }

  async #consumeAll(): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX && this.#read < this.#stream.length; round += 1)
      await this.#act({ do: 'consume', count: 100, dieAfter: null });
    must(this.#read >= this.#stream.length, 'the inbox is never read to its end');
  }

  async #perform(action: Action): Promise<void> {
    const { world } = this;
    const { gitlab } = world;
    switch (action.do) {
      case 'ask':
        return this.#ask(action);
      case 'postUnmetered':
        return this.#postUnmetered(action.relay, action.dieAfter);
      case 'loseRelay':
        this.#unmeteredOf(action.relay).length = 0;
        return;
      case 'refuse':
        return this.#refuse(this.#job(action.job));
      case 'start':
        return this.#start(action.pick);
      case 'end': {
        const open = [...gitlab.jobs.values()].filter(
          ({ removed, status }) =>
            !removed && (status === 'running' || (action.how === 'canceled' && status === 'pending')),
        );
        const job = open[action.pick % Math.max(1, open.length)];
        if (job !== undefined) this.#end(job, action.how);
        return;
      }
      case 'remove':
        return gitlab.remove(this.#job(action.job));
      case 'retry':
        return this.#retry(action);
      case 'deliver':
        return this.#deliver(action);
      case 'lose':
        this.#hooks.splice(action.pick % Math.max(1, this.#hooks.length), 1);
        return;
      case 'consume':
        return this.#consume(action.count, action.dieAfter);
      case 'sweep':
        return this.#sweep(action.by === 0 ? 'sweep 0' : 'sweep 1', action.dieAfter);
      case 'rollUp':
        await world.rollup.deliver(action.count);
        return world.rollup.repeat(Math.floor(world.rollup.position / 3), action.again);
      case 'rebuild':
        return this.#rebuild();
      case 'price':
      case 'limit':
      case 'grant':
      case 'move': {
        const next = edited(action, world.ruleSet, world.clock.nowMs());
        if (next !== undefined) world.ruleSets.push(next);
        return;
      }
      case 'step':
        world.skewMs.set(
          PROCESSES[action.process % PROCESSES.length] ?? 'settle',
          action.minutes * MINUTE_MS,
        );
        return;
      case 'gitlab':
        gitlab.availability = action.availability;
        return;
      case 'token':
        gitlab.tokenSees = action.sees;
        return;
      case 'advance':
        return world.pass(millisecondsOf(action.by, world.clock.nowMs()));
      case 'together':
        throw new Error('concurrent actions are started together');
    }
  }

  async #within<T>(
    name: ProcessName,
    dieAfter: number | null,
    work: (process: Process) => Promise<T>,
  ): Promise<void> {
    const process = this.world.process(name);
    if (dieAfter !== null) process.dieAfter(dieAfter);
    await Promise.race([work(process), process.died]);
    process.dieAfter(Number.POSITIVE_INFINITY);
  }

  #job(index: number): TrueJob {
    const at = index % this.#plan.jobs.length;
    const known = this.#jobs.get(at);
    const plan = this.#plan.jobs[at];
    if (known !== undefined) return known;
    must(plan !== undefined, 'a plan has at least one job');
    const jobId = this.world.gitlab.jobs.size + 1;
    const jobName = `unit ${Math.floor(jobId / 3)}`;
    return this.#create(at, { ...plan, jobName, pipelineId: 5_000 + (jobId % 3), jobId });
  }

  #create(at: number, plan: Omit<JobPlan, 'withoutRunner'>): TrueJob {
    const { gitlab, clock } = this.world;
    const withoutRunner = plan.jobId % 2 === 1;
    const job = gitlab.create({ ...plan, withoutRunner }, clock.nowMs());
    this.#jobs.set(at, job);
    const untilMs = clock.nowMs() + WAITS_MS_MAX;
    gitlab.agenda.add(untilMs, () => {
      if (job.status !== 'pending' || job.removed) return;
      job.failureReason = 'stuck_or_timeout_failure';
      gitlab.end(job, 'failed', untilMs);
    });
    return job;
  }

  async #ask({ relay, jobs: indexes, leftMs, heard, fallback, dieAfter }: Extract<Action, { do: 'ask' }>) {
    const { world } = this;
    const jobs = indexes.map((index) => this.#job(index));
    await this.#within(relay === 0 ? 'admit 0' : 'admit 1', dieAfter, async (process) => {
      const { outcomes } = await world.admit(process, jobs, { leftMs });
      for (const [index, job] of jobs.entries()) {
        const outcome = outcomes[index]?.outcome;
        const isDecided = outcome === 'admitted' || outcome === 'rejected';
        const answered = isDecided ? outcome : fallback;
        if (heard && job.heard === undefined && job.status === 'pending') {
          job.heard = answered;
          if (answered === 'rejected' && !this.#runsAnyway(job)) this.#refuse(job);
        }
        if (isDecided) continue;
        const answeredAtMs = process.clock.nowMs();
        job.fallback.push({ answered, atMs: answeredAtMs });
        const request = world.gitlab.requestOf(job);
        this.#unmeteredOf(relay).push({ request, answered, cause: 'unavailable', answeredAtMs });
      }
    });
  }

  #unmeteredOf = (relay: number): UnmeteredAnswer[] => this.#unmetered[relay === 0 ? 0 : 1];

  #runsAnyway = (job: TrueJob): boolean =>
    [...this.#jobs].some(([at, each]) => each === job && this.#plan.jobs[at]?.runsAnyway === true);

  async #postUnmetered(relay: number, dieAfter: number | null): Promise<void> {
    const queue = this.#unmeteredOf(relay);
    const posted = [...queue];
    if (posted.length === 0) return;
    await this.#within(relay === 0 ? 'admit 0' : 'admit 1', dieAfter, async (process) => {
      const left = await this.world.postUnmetered(process, posted);
      for (const answer of posted)
        if (!left.includes(answer) && queue.includes(answer)) queue.splice(queue.indexOf(answer), 1);
    });
  }

  #refuse(job: TrueJob): void {
    if (job.status !== 'pending' || job.heard === 'admitted') return;
    const nowMs = this.world.clock.nowMs();
    this.world.gitlab.refuse(job, nowMs, nowMs + ROUTER_MS);
  }

  /** One of the jobs that may start, also if no relay asked about it. */
  #start(pick: number): void {
    const { gitlab, clock } = this.world;
    const ready = this.#plan.jobs.flatMap(({ runsAnyway }, index) => {
      const job = this.#jobs.get(index);
      if (job === undefined) return runsAnyway ? [index] : [];
      const mayStart = !job.removed && job.status === 'pending';
      return mayStart && (job.heard === 'admitted' || runsAnyway) ? [index] : [];
    });
    const index = ready[pick % Math.max(1, ready.length)];
    if (index === undefined) return;
    const job = this.#job(index);
    gitlab.start(job, clock.nowMs());
    const untilMs = clock.nowMs() + job.timeoutSeconds * 1000;
    gitlab.agenda.add(untilMs, () => {
      if (job.status === 'running' && !job.removed) gitlab.end(job, 'failed', untilMs);
    });
  }

  #end(job: TrueJob, how: 'success' | 'failed' | 'canceled'): void {
    this.world.gitlab.end(job, how, this.world.clock.nowMs());
  }

  async #retry({ job: index, keptMinutes, dieAfter }: Extract<Action, { do: 'retry' }>): Promise<void> {
    const job = this.#job(index);
    await this.#within('requeue', dieAfter, async (process) => {
      const { ledger, clock } = process;
      const [record] = (await ledger.readRecords([job.jobId]).catch(onlyUnavailable)) ?? [];
      const rules = await this.world.decideDeps(process).currentRules([]);
      const claims = record === undefined ? [] : retryClaims(record, { ...rules, nowMs: clock.nowMs() });
      const untilMs = clock.nowMs() + keptMinutes * MINUTE_MS;
      const kept = await ledger.reserve({ jobId: job.jobId, claims, untilMs });
      if (kept === 'full' || kept === 'undecided') return;
      const at = [...this.#jobs].find(([, each]) => each === job)?.[0];
      const mayRetry = !job.removed && !job.retried && job.failureReason === 'job_router_failure';
      if (at === undefined || !mayRetry) {
        await ledger.endReservations([job.jobId]);
        return;
      }
      job.retried = true;
      const { projectId, jobName, pipelineId, runnerId, runnerClass, timeoutSeconds } = job;
      const same = { projectId, jobName, pipelineId, runnerId, runnerClass, timeoutSeconds };
      const withoutDuration = job.withoutDuration === true;
      const made = this.#create(at, { ...same, withoutDuration, jobId: this.world.gitlab.jobs.size + 1 });
      await ledger.handOver(job.jobId, made.jobId);
    });
  }

  #newDeliveryId(): string {
    this.#deliveries += 1;
    return `delivery ${this.#deliveries}`;
  }

  /** The hook function takes ends, once per delivery. GitLab does not repeat a webhook that was not taken. */
  async #deliver({ pick, again }: Extract<Action, { do: 'deliver' }>): Promise<void> {
    const hook = this.#hooks[pick % Math.max(1, this.#hooks.length)];
    if (hook === undefined) return;
    if (again === 'no') this.#hooks.splice(this.#hooks.indexOf(hook), 1);
    const { gitlabJob } = hook;
    if (!isTerminal(gitlabJob.status)) return;
    const id = again === 'resend' ? this.#newDeliveryId() : hook.id;
    await this.#within('hook', null, async ({ inbox, clock }) => {
      const receivedAtMs = clock.nowMs();
      const body = hintText({ groupId: this.world.rootOf(gitlabJob.projectId), gitlabJob });
      const item = { id, body, receivedAtMs, untilMs: receivedAtMs + 3 * DAY_MS };
      await inbox.receive(item, { timeoutMs: 5_000 }).catch(onlyUnavailable);
    });
  }

  #received(item: InboxItem): void {
    const NewImage = inboxItem(item, this.world.keys);
    const SequenceNumber = String(this.#stream.length);
    const jobId = parseHintText(item.body)?.gitlabJob.jobId ?? 0;
    this.#stream.push({ record: { eventName: 'INSERT', dynamodb: { SequenceNumber, NewImage } }, jobId });
  }

  /** A reader that dies has answered nothing: the same batch comes again. */
  async #consume(count: number, dieAfter: number | null): Promise<void> {
    const { world } = this;
    const first = this.#read;
    const batch = this.#stream.slice(first, first + count);
    if (batch.length === 0) return;
    await this.#within('settle', dieAfter, async (process) => {
      const directoryFor = async () => world.rules.directory;
      const deps = { ...world.decideDeps(process), keys: world.keys, directoryFor };
      const { batchItemFailures } = await consume({ Records: batch.map(({ record }) => record) }, deps);
      const failed = batchItemFailures.map(({ itemIdentifier }) => Number(itemIdentifier));
      const until = Math.min(first + batch.length, ...failed);
      this.#read = Math.max(this.#read, until);
      for (const { jobId } of this.#stream.slice(first, until)) {
        // Without a record, or ended by the router, the sweep charges it.
        if (world.books.records.get(jobId)?.state === 'SETTLED') this.#heard.add(jobId);
      }
    });
  }

  async #sweep(name: 'sweep 0' | 'sweep 1', dieAfter: number | null): Promise<void> {
    await this.#within(name, dieAfter, (process) => this.world.sweep(process));
  }

  async #rebuild(): Promise<void> {
    await this.#within('settle', null, async ({ ledger }) => {
      const report = await ledger.rebuild({ repair: false }).catch(onlyUnavailable);
      must((report?.drift.length ?? 0) === 0, `rebuild found drift: ${JSON.stringify(report?.drift)}`);
    });
  }
}

function millisecondsOf(by: number | 'day' | 'month', nowMs: number): number {
  if (typeof by === 'number') return by * 1000;
  const part = (atMs: number): string => dayIn(ZONE, atMs).slice(0, by === 'day' ? 10 : 7);
  let untilMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS + HOUR_MS;
  while (part(untilMs) === part(nowMs)) untilMs += HOUR_MS;
  return Math.max(0, untilMs - 2_000 - nowMs);
}
