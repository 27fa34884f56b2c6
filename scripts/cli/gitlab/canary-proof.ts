/** The canary's two jobs: answered on streams of our own, waited for, and judged. */

import type { CanaryJob } from '../../../functions/core/gitlab/administration.ts';
import { isTerminal, JOB_STATUSES, REJECTED_BY_ROUTER } from '../../../functions/core/gitlab/gitlab.ts';
import type { ArmOutcome, CanaryOutcome } from '../../../functions/core/ledger/controller.ts';
import type { RelayClock, RouterAnswer } from '../../../relay/exchange.ts';
import { createStreamPool } from '../../../relay/pool.ts';
import type { Router } from '../../../relay/router/router.ts';
import { compileReader } from '../../../relay/translate/question-reader.ts';
import { encodeAnswer, type WireSchema } from '../../../relay/wire/schema.ts';
import type { Canary } from './canary-command.ts';
import type { SetupLines } from './setup-flags.ts';

/** One runner, two jobs: two streams wait, and a third replaces the one that was asked. */
const SIZES = { start: 2, max: 4, openMax: 8 };
/** A runner may be faster than the list of the jobs it takes. */
const KNOW_MS_MAX = 5_000;
const POLL_MS = 2_000;
const RUNS = 'tollgate-canary-runs';
const FAILS = 'tollgate-canary-fails';
export const CANARY_JOBS: readonly string[] = [FAILS, RUNS];

/** Opens the canary's streams, with the code that relays use. */
export function openCanaryStreams(router: Router, schema: WireSchema, clock: RelayClock) {
  const read = compileReader(schema, { variables: { names: [], prefixes: [] }, trustVariables: false });
  const known = Promise.withResolvers<ReadonlyMap<number, RouterAnswer>>();
  const taken = Promise.withResolvers<true>();
  const [asked, received] = [new Set<number>(), new Set<number>()];
  let unreadable = 0;
  let failure = 'the router does not answer';
  const within = async <T>(ms: number, promise: Promise<T>): Promise<T | undefined> => {
    const late = Promise.withResolvers<undefined>();
    const cancel = clock.after(ms, () => late.resolve(undefined));
    return Promise.race([promise, late.promise]).finally(cancel);
  };
  const pool = createStreamPool({
    ...{ router, clock, random: Math.random, sizes: SIZES, leaveWaitingMs: 0 },
    encode: (given) => encodeAnswer(schema, given),
    async answer({ bytes }) {
      const question = read(bytes);
      if (!question.ok) unreadable += 1;
      const jobId = question.ok ? question.request.jobId : 0;
      const answer = question.ok && (await within(KNOW_MS_MAX, known.promise))?.get(jobId);
      if (!answer) return { answer: { outcome: 'admitted' }, delivered: () => {} };
      asked.add(jobId);
      return {
        answer,
        delivered: (isReceived) => {
          if (isReceived) received.add(jobId);
        },
      };
    },
    observe(event) {
      if (event.type === 'connected') taken.resolve(true);
      if (event.type === 'stream_ended' && event.code !== 0)
        failure = `status ${event.code}: ${event.details}`;
    },
  });
  pool.start();
  return {
    asked,
    received,
    unreadable: () => unreadable,
    /** Sets the responses; earlier requests wait a moment for them. */
    expect: known.resolve,
    /** Undefined: the router has taken a stream. Else why none within `timeoutMs`. */
    opened: async (timeoutMs: number): Promise<string | undefined> =>
      (await within(timeoutMs, taken.promise)) === true ? undefined : failure,
    close: async (): Promise<void> => {
      await pool.drain();
      router.close();
    },
  };
}

/** Runs the two jobs, answers for them, and judges both. Undefined: they prove nothing, which does not contradict an earlier proof. */
export async function runJobs(
  canary: Canary,
  project: { readonly id: number; readonly path: string; readonly branch: string },
  streams: ReturnType<typeof openCanaryStreams>,
  lines: SetupLines,
): Promise<Pick<CanaryOutcome, 'admitted' | 'rejected'> | undefined> {
  const { gitlab, runnerTag } = canary;
  const { id: pipelineId } = lines.need('pipeline', await gitlab.startPipeline(project.id, project.branch));
  const jobs = lines.need('pipeline', await gitlab.pipelineJobs(project.id, pipelineId));
  const [fails, runs] = jobs.toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  const named = jobs.map(({ name }) => name).sort();
  const hasTags = jobs.every(({ tag_list }) => tag_list.join() === runnerTag);
  if (fails === undefined || runs === undefined || named.join() !== CANARY_JOBS.join() || !hasTags) {
    // Its jobs are not the canary's, so the clean-up would leave it.
    await gitlab.cancelPipeline(project.id, pipelineId);
    throw lines.stop(
      'project',
      `the pipeline has the jobs ${named.join(', ')}; expected ${CANARY_JOBS.join(' and ')}, each with the tag ${runnerTag}`,
      'use the .gitlab-ci.yml of docs/platform.md, with the tag of the runner',
    );
  }
  const reason = `tollgate canary ${Date.now().toString(16)}: this job was to be rejected`;
  streams.expect(
    new Map<number, RouterAnswer>([
      [runs.id, { outcome: 'admitted' }],
      [fails.id, { outcome: 'rejected', reason }],
    ]),
  );
  const ended = await waitForJobs(canary, project.id, pipelineId, lines);
  const evidenceOf = async ({ id }: CanaryJob) => {
    const job = ended.find((each) => each.id === id);
    if (job === undefined) throw new Error('the pipeline has lost one of its jobs');
    const said = job.status === 'failed' ? await gitlab.failureMessage(project.path, id) : undefined;
    const message = said?.ok === true ? said.value : undefined;
    return { job, isAsked: streams.asked.has(id), isReceived: streams.received.has(id), message };
  };
  const judged = (part: 'admitted' | 'rejected', [outcome, says, remedy]: Verdict): ArmOutcome => {
    lines.add(part, outcome === 'proven' ? 'right' : 'wrong', says, remedy);
    return outcome;
  };
  const [ran, failed] = [await evidenceOf(runs), await evidenceOf(fails)];
  const admitted = judged('admitted', unasked(ran) ?? admittedVerdict(ran, failed));
  const rejected = judged('rejected', unasked(failed) ?? rejectedVerdict(failed, reason));
  const unreadable = streams.unreadable();
  if (unreadable > 0) lines.add('router', 'wrong', `${unreadable} requests could not be read`, DESCRIPTORS);
  return admitted === 'unreached' && rejected === 'unreached' ? undefined : { admitted, rejected };
}

/** Returns the jobs when both have ended, at the timeout, or on abort. */
async function waitForJobs(
  { gitlab, clock, waitMs, stop, progress }: Canary,
  projectId: number,
  pipelineId: number,
  lines: SetupLines,
): Promise<readonly CanaryJob[]> {
  const untilMs = clock.monotonicMs() + waitMs;
  const isOver = ({ status }: CanaryJob): boolean =>
    JOB_STATUSES.some((known) => known === status && isTerminal(known));
  for (;;) {
    const jobs = lines.need('pipeline', await gitlab.pipelineJobs(projectId, pipelineId));
    progress(jobs.map(({ name, status }) => `${name} is ${status}`).join(', '));
    if (jobs.every(isOver) || stop.aborted || clock.monotonicMs() >= untilMs) return jobs;
    await clock.sleep(POLL_MS);
  }
}

interface Evidence {
  readonly job: CanaryJob;
  /** GitLab asked about it, and the router received our response. */
  readonly isAsked: boolean;
  readonly isReceived: boolean;
  readonly message: string | undefined;
}

type Verdict = readonly [outcome: ArmOutcome, says: string, remedy?: string];

const DESCRIPTORS =
  'these descriptors are not of this GitLab: npm run proto:sync -- --ref v<version of KAS>, then the canary again; do not arm';
const BYPASS =
  'let the runner use the job router (FF_USE_JOB_ROUTER): tollgate fleet ls; GitLab needs the flag job_router_admission_control';
const NO_RUNNER =
  'start the runner, check its tag and that it may take jobs of this project; or give it more time with --wait';
const ANOTHER =
  'another controller may have rejected it: let its rules pass this project, then the canary again';

/** Undefined: GitLab asked about the job, and it has ended. */
function unasked(evidence: Evidence): Verdict | undefined {
  const { id, status } = evidence.job;
  if (status !== 'success' && status !== 'failed')
    return ['unreached', `job ${id} is ${status}: no runner took it`, NO_RUNNER];
  if (evidence.isAsked) return undefined;
  return hasRun(evidence)
    ? ['bypassed', `job ${id} ran and GitLab never asked about it`, BYPASS]
    : ['unreached', `job ${id} failed before GitLab asked: ${causeOf(evidence)}`, NO_RUNNER];
}

/** @param rejected - if it ran, GitLab took each response for the other */
function admittedVerdict(evidence: Evidence, rejected: Evidence): Verdict {
  const { id } = evidence.job;
  if (hasRun(evidence)) return ['proven', `we admitted job ${id}, and it ran`];
  if (!evidence.isReceived || (rejected.isAsked && hasRun(rejected)))
    return ['contrary', `"admitted" failed job ${id}`, DESCRIPTORS];
  return ['unreached', `we admitted job ${id}, and it failed: ${causeOf(evidence)}`, ANOTHER];
}

/** @param reason - our text, by which the rejected job is recognised */
function rejectedVerdict(evidence: Evidence, reason: string): Verdict {
  const { job, message } = evidence;
  const rejected = `we rejected job ${job.id}, and it`;
  if (hasRun(evidence)) return ['contrary', `${rejected} ran`, DESCRIPTORS];
  if (message !== undefined && !message.includes(reason))
    return ['unreached', `${rejected} failed for another reason: ${message}`, ANOTHER];
  return ['proven', `${rejected} failed${message === undefined ? '' : ' with our text'}`];
}

/** A job that failed on the runner has run, too: the router let it through. */
const hasRun = ({ job }: Evidence): boolean =>
  job.status === 'success' || (job.status === 'failed' && job.failure_reason !== REJECTED_BY_ROUTER);

const causeOf = ({ job, message }: Evidence): string => message ?? job.failure_reason ?? job.status;
