import { relative, resolve } from 'node:path';
import type { Directory } from '../../policies/place/directory.ts';
import { pipelineFile } from '../cli/check/pipeline-file.ts';
import { expandPipeline } from '../cli/pipeline/expand-pipeline.ts';
import type { ExpandedPipeline } from '../cli/pipeline/expanded-pipeline.ts';
import type { PipelineProject } from '../cli/pipeline/job-variables.ts';
import { UsageError } from '../terminal/command.ts';
import type { StartOptions } from './options.ts';
import { pipelineQuestions } from './questions.ts';
import type { AdmissionResult } from './router/admission.ts';
import { startLocalRouter } from './router/local-router.ts';
import type { JobQuestion } from './router/messages.ts';

/** A short pipeline runs several times, as in real groups, until a budget is exhausted. */
const JOBS_MIN = 160;

/** Gives the job to a runner; `admit` asks the router's controllers. */
type Play = (question: JobQuestion, admit: () => Promise<AdmissionResult>) => Promise<void>;

const TOKEN = 'glrct-local-not-a-secret';
/** If decisions take longer than this, requests slow down: a slow machine shows decisions, not fallbacks. */
const ANSWER_SECONDS = 0.5;
/** Enough for a few groups at the same time. */
const OPEN_MIN = 8;

/**
 * Returns the file of the pipeline to replay: the given one, or the sample.
 *
 * @throws {UsageError} if the given one does not exist, or is a folder without a pipeline.
 */
export const choosePipeline = (asked: string | undefined, root: string): string =>
  asked === undefined
    ? resolve(root, 'scripts/local/pipelines/web-shop')
    : pipelineFile(asked, process.cwd()).file;

/**
 * Starts a job router on loopback that sends the jobs of a pipeline to its controller.
 *
 * @param firstJobId - the first id of jobs, and of pipelines.
 */
export async function openLocalRouter(
  options: StartOptions,
  pipelinePath: string,
  directory: Directory,
  firstJobId: number,
) {
  const pipeline = expandPipeline(pipelinePath);
  if (pipeline.jobs.length === 0) {
    const why = pipeline.notRead.length === 0 ? '' : `: ${pipeline.notRead.join('; ')}`;
    throw new UsageError(`--pipeline ${pipelinePath} has no jobs${why}`);
  }
  const projects = projectsOf(directory);
  const router = await startLocalRouter({ controllers: [{ id: 1, tokens: [TOKEN], state: 'enabled' }] });
  const url = options.transport === 'ws' ? router.wsUrl : router.grpcUrl;
  if (url === undefined) throw new Error(`the local router has no ${options.transport} listener`);
  let asked = 0;
  const total = options.forever ? undefined : (options.jobs ?? Math.max(JOBS_MIN, pipeline.jobs.length));
  return {
    url,
    token: TOKEN,
    facts: pipelineFacts(relative(process.cwd(), pipelinePath), pipeline),
    total,
    /** Plays every job; resolves when all are decided, or `stopped` returns true. */
    async run(stopped: () => boolean, play: Play): Promise<void> {
      await router.until(() => router.waitingStreams() > 0, { what: 'a relay that waits for questions' });
      await replay(
        pipelineQuestions(pipeline.jobs, {
          projects,
          seed: options.seed,
          count: total ?? Number.POSITIVE_INFINITY,
          firstJobId,
          firstPipelineId: firstJobId,
        }),
        {
          ratePerSecond: options.rate,
          ask: (question) => {
            asked += 1;
            return play(question, () => router.admit(question));
          },
          stopped,
        },
      );
    },
    lastJobId: () => firstJobId + asked,
    close: () => router.close(),
  };
}

function projectsOf(directory: Directory): readonly PipelineProject[] {
  return [...directory.projectById.values()].map(({ id, path, groupId, visibility }) => ({
    id,
    path,
    namespaceId: groupId,
    rootNamespaceId: directory.chainById.get(groupId)?.[0]?.id ?? groupId,
    ...(visibility === undefined ? {} : { visibility }),
  }));
}

/** Facts about the pipeline for people: its size, and the rules and includes that are left open. */
function pipelineFacts(
  path: string,
  { jobs, notRead }: Pick<ExpandedPipeline, 'jobs' | 'notRead'>,
): Readonly<Record<string, string>> {
  const ruled = jobs.filter(({ dependsOn }) => dependsOn !== undefined).length;
  return {
    pipeline: `${path}, ${jobs.length} jobs`,
    ...(ruled > 0 && {
      // Sources and branches are random here, so no single run of the pipeline is the right one.
      rules: `${ruled} of them depend on rules; each runs as if all that the file leaves open held (see npx tollgate check)`,
    }),
    ...(notRead.length > 0 && {
      'not read': `${notRead.length} includes and child pipelines (see npx tollgate check)`,
    }),
  };
}

/** Sends requests at a steady rate, several at the same time; resolves when all are decided. */
async function replay<Q>(
  questions: Iterable<Q>,
  options: {
    readonly ratePerSecond: number;
    readonly ask: (question: Q) => Promise<unknown>;
    readonly stopped: () => boolean;
  },
): Promise<void> {
  let dueMs = performance.now();
  const openMax = Math.max(OPEN_MIN, Math.ceil(options.ratePerSecond * ANSWER_SECONDS));
  const open = new Set<Promise<unknown>>();
  const everyMs = 1_000 / options.ratePerSecond;
  for (const question of questions) {
    if (options.stopped()) break;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    while (open.size >= openMax) await Promise.race(open);
    // Delayed requests are not made up for: that would be a burst.
    dueMs = Math.max(dueMs, performance.now() - everyMs) + everyMs;
    const answered: Promise<unknown> = options.ask(question).finally(() => open.delete(answered));
    open.add(answered);
  }
  await Promise.all(open);
}
