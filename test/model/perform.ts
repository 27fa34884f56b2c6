/** One action upon the world. */
import { decide, recordUnmetered } from '../../functions/core/admission/decide.ts';
import { silentLog } from '../../functions/core/environment/environment.ts';
import { isTerminal } from '../../functions/core/gitlab/gitlab.ts';
import { retryClaims } from '../../functions/core/requeue/requeue-list.ts';
import { LedgerError } from '../../functions/core/store/table-failure.ts';
import { settleTruths } from '../../functions/core/truth/settle-truths.ts';
import { hintText } from '../../functions/core/truth/webhook-hints.ts';
import { consume } from '../../functions/settle/consume.ts';
import type { SweepReport } from '../../functions/sweep/report.ts';
import { sweep } from '../../functions/sweep/sweep.ts';
import { must } from '../support/ledger/history.ts';
import type { Action } from './action.ts';
import { checkAnswer } from './answers.ts';
import { edit, millisecondsOf } from './edit.ts';
import type { Process } from './process.ts';
import { restOf } from './rest.ts';
import { PROCESSES, type ProcessName, type World } from './world.ts';

const CAUSE = 'unavailable';
const ENOUGH_MS = 2_000;

export async function perform(action: Action, world: World): Promise<void> {
  const { truth, skewMs } = world;
  switch (action.do) {
    case 'ask':
      return ask(action, world);
    case 'postUnmetered':
      return postUnmetered(action.relay, action.dieAfter, world);
    case 'loseRelay':
      world.unmetered[action.relay === 0 ? 0 : 1].length = 0;
      return;
    case 'refuse':
      return truth.refuse(truth.job(action.job));
    case 'start':
      return truth.start(action.pick);
    case 'end':
      return truth.end(action.pick, action.how);
    case 'remove':
      truth.job(action.job).removed = true;
      return;
    case 'retry':
      return retry(action, world);
    case 'deliver':
      return deliver(action, world);
    case 'lose':
      truth.outbox.splice(action.pick % Math.max(1, truth.outbox.length), 1);
      return;
    case 'consume':
      return consumeNext(action.count, action.dieAfter, world);
    case 'sweep':
      await sweepOnce(action.by === 0 ? 'sweep 0' : 'sweep 1', action.dieAfter, world);
      return;
    case 'rollUp':
      return world.usage.rollUp(action.count, action.again);
    case 'rebuild':
      return rebuild(world);
    case 'price':
    case 'limit':
    case 'grant':
    case 'move':
      return edit(action, world);
    case 'step':
      skewMs.set(PROCESSES[action.process % PROCESSES.length] ?? 'settle', action.minutes * 60_000);
      return;
    case 'mood':
      truth.mood = action.mood;
      return;
    case 'token':
      truth.tokenSees = action.sees;
      return;
    case 'advance':
      return world.pass(millisecondsOf(action.by, world.nowMs()));
    case 'together':
      throw new Error('what happens together is started together');
  }
}

/** What a program does until it is done or dead. */
async function within<T>(
  name: ProcessName,
  dieAfter: number | null,
  world: World,
  work: (process: Process) => Promise<T>,
): Promise<T | 'died'> {
  const process = world.process(name);
  if (dieAfter !== null) process.dieAfter(dieAfter);
  const outcome = await Promise.race([work(process), process.died]);
  process.dieAfter(Number.POSITIVE_INFINITY);
  return outcome;
}

async function ask(action: Extract<Action, { do: 'ask' }>, world: World): Promise<void> {
  const { truth, books, editions } = world;
  const jobs = action.jobs.map((index) => truth.job(index));
  const requests = jobs.map((job) => truth.ask(job));
  await within(action.relay === 0 ? 'admit 0' : 'admit 1', action.dieAfter, world, async (process) => {
    const call = world.newCall();
    const asked = {
      call,
      commit: books.commits,
      edition: world.edition.number,
      atMs: process.clock.nowMs(),
      records: new Map(jobs.map(({ jobId }) => [jobId, books.records.get(jobId)])),
      jobs: new Set(jobs).size,
    };
    const deadlineMs = process.clock.monotonicMs() + action.leftMs;
    const entries: unknown[] = JSON.parse(JSON.stringify(requests));
    const decisions = await decide(entries, deadlineMs, world.decideDeps(process, call));
    must(decisions.length === jobs.length, `${jobs.length} jobs got ${decisions.length} decisions`);
    for (const [index, job] of jobs.entries()) {
      const decision = decisions[index];
      const request = requests[index];
      if (decision === undefined || request === undefined) continue;
      const undisturbed = world.isCalm && action.leftMs >= ENOUGH_MS;
      must(
        !(undisturbed && decision.outcome === 'undecided'),
        `nothing disturbed job ${job.jobId}, and it is undecided`,
      );
      checkAnswer(job.jobId, decision, asked, process.clock.nowMs(), { books, editions });
      const answer = decision.outcome === 'undecided' ? action.fallback : decision.outcome;
      if (action.heard) truth.tell(job, answer);
      if (decision.outcome !== 'undecided') continue;
      const answeredAtMs = process.clock.nowMs();
      job.answeredAtMs.add(answeredAtMs);
      world.unmetered[action.relay === 0 ? 0 : 1].push({
        request,
        answered: answer,
        cause: CAUSE,
        answeredAtMs,
      });
    }
  });
}

/** Until it is taken it stays with the relay, and comes again. */
async function postUnmetered(relay: number, dieAfter: number | null, world: World): Promise<void> {
  const queue = world.unmetered[relay === 0 ? 0 : 1];
  const posted = [...queue];
  if (posted.length === 0) return;
  await within(relay === 0 ? 'admit 0' : 'admit 1', dieAfter, world, async (process) => {
    const entries: unknown[] = JSON.parse(JSON.stringify(posted));
    const results = await recordUnmetered(entries, world.decideDeps(process));
    for (const [index, answer] of posted.entries()) {
      const outcome = results[index]?.outcome;
      must(outcome === 'recorded' || outcome === 'undecided', `an answer was ${outcome}`);
      if (outcome === 'recorded' && queue.includes(answer)) queue.splice(queue.indexOf(answer), 1);
    }
  });
}

/** As the requeue does it: room first, GitLab then, and what GitLab made of the job last. */
async function retry(action: Extract<Action, { do: 'retry' }>, world: World): Promise<void> {
  const { truth } = world;
  const job = truth.job(action.job);
  await within('requeue', action.dieAfter, world, async (process) => {
    const { ledger, clock } = process;
    const [record] = await ledger.readRecords([job.jobId]).catch(onlySilenceOf([]));
    const rules = await world.decideDeps(process).currentRules([]);
    const claims = record === undefined ? [] : retryClaims(record, { ...rules, nowMs: clock.nowMs() });
    const untilMs = clock.nowMs() + action.keptMinutes * 60_000;
    const kept = await ledger.reserve({ jobId: job.jobId, claims, untilMs });
    if (kept === 'full' || kept === 'undecided') return;
    const made = truth.retry(job);
    if (made === undefined) await ledger.endReservations([job.jobId]);
    else await ledger.handOver(job.jobId, made.jobId);
  });
}

const onlySilenceOf =
  <T>(instead: T) =>
  (error: unknown): T => {
    onlySilence(error);
    return instead;
  };

/** As the webhook's app takes it: only ends, once per delivery. GitLab does not repeat what was not taken. */
async function deliver(action: Extract<Action, { do: 'deliver' }>, world: World): Promise<void> {
  const { outbox } = world.truth;
  const delivery = outbox[action.pick % Math.max(1, outbox.length)];
  if (delivery === undefined) return;
  if (action.again === 'no') outbox.splice(outbox.indexOf(delivery), 1);
  if (!isTerminal(delivery.truth.status)) return;
  const id = action.again === 'resend' ? world.truth.newDeliveryId() : delivery.id;
  await within('hook', null, world, async ({ inbox, clock }) => {
    const receivedAtMs = clock.nowMs();
    const item = {
      id,
      body: hintText({ groupId: world.truth.rootOf(delivery.truth.projectId), truth: delivery.truth }),
      receivedAtMs,
      untilMs: receivedAtMs + 3 * 86_400_000,
    };
    await inbox.receive(item, { timeoutMs: 5_000 }).catch(onlySilence);
  });
}

async function consumeNext(count: number, dieAfter: number | null, world: World): Promise<void> {
  const batch = world.streams.next(count);
  if (batch.length === 0) return;
  await within('settle', dieAfter, world, async (process) => {
    const directoryFor = async () => world.directory;
    const deps = { ...world.decideDeps(process), keys: world.keys, directoryFor };
    const read = world.streams.answered(batch, await consume({ Records: batch }, deps));
    for (const jobId of read) {
      // Without a record, or ended by the router, it is the sweep's to charge.
      if (world.books.records.get(jobId)?.state === 'SETTLED') world.heard.add(jobId);
    }
  });
}

export async function sweepOnce(
  name: 'sweep 0' | 'sweep 1',
  dieAfter: number | null,
  world: World,
): Promise<SweepReport | undefined> {
  const report = await within(name, dieAfter, world, async (process) => {
    const settling = world.decideDeps(process);
    return sweep({
      gitlab: restOf(world.truth, () => process.step()),
      ledger: process.ledger,
      marks: world.marks,
      chargeBypass: (truths) => settleTruths(truths, { ...settling, log: silentLog }),
      memory: process.sweepMemory,
      clock: process.clock,
      chargeUnknown: world.plan.chargeUnknown,
    }).catch(onlySilence);
  });
  return report === 'died' ? undefined : report;
}

/** 7, while everything moves. */
async function rebuild(world: World): Promise<void> {
  await within('settle', null, world, async ({ ledger }) => {
    const report = await ledger.rebuild({ repair: false }).catch(onlySilence);
    must((report?.drift.length ?? 0) === 0, `rebuild found drift: ${JSON.stringify(report?.drift)}`);
  });
}

/** A table that does not answer ends the call; everything else is a failure. */
function onlySilence(error: unknown): undefined {
  if (!(error instanceof LedgerError && error.retryable)) throw error;
  return undefined;
}
