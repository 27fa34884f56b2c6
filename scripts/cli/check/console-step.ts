import type { AskedPipelineJob, CheckedPipeline } from '../../../functions/answers/check/model.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { consoleAsked, consoleClient, mayAskConsole } from '../api/console-client.ts';
import type { RequestPlace } from '../evaluation/place-flags.ts';
import { ENV_ID_TOKEN } from '../login/kept-sessions.ts';
import { pipelineRequestOf, type RequestOptions } from './job-request.ts';
import type { PipelineCheck } from './pipeline-check.ts';

/** The same jobs, as they would be decided now, and what is left of their limits. */
export interface ConsoleCheck extends CheckedPipeline {
  /** `https://budget.example.com` */
  readonly console: string;
}

interface ConsoleStep {
  /** Absent: no console was asked, or it did not answer. */
  readonly now?: ConsoleCheck;
  readonly code: ExitCode;
}

interface ConsoleAsk extends Omit<RequestOptions, 'jobId'> {
  /** `--console`; absent: the environment names one, or none is asked. */
  readonly console: string | undefined;
  /** The tags of the runner class that all jobs are taken to be of. */
  readonly classTags: readonly string[];
}

/**
 * Asks a console about the jobs of the file. Without a flag for it, and without a way in, none is asked.
 *
 * @throws {UsageError} where a console cannot be told whose jobs they are.
 */
export async function consoleStep(
  { jobs }: PipelineCheck,
  ask: ConsoleAsk,
  io: Pick<TerminalIo, 'env' | 'err'>,
  send?: typeof fetch,
): Promise<ConsoleStep> {
  const origin = consoleAsked({ console: ask.console }, io);
  if (origin === undefined || jobs.length === 0) return { code: EXIT.ok };
  const whose = whoseJobs(ask.place, io);
  if (whose === undefined && ask.console !== undefined)
    throw new UsageError('--console: whose budget? expected --project or --group');
  if (whose === undefined || (ask.console === undefined && !mayAskConsole(origin, io)))
    return { code: EXIT.ok };
  const client = consoleClient(origin, io, send);
  const asked = jobs.map(({ job }, index) =>
    jobAsked(pipelineRequestOf(job, { ...ask, jobId: index + 1 }), ask.classTags),
  );
  const body = { ...whose, jobs: asked };
  try {
    const pipeline = await answeredInProcess(client.check.$post({ json: body }));
    return { now: { ...pipeline, console: origin }, code: EXIT.ok };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    io.err(`--console: what is left of the limits is not known: ${reason}\n`);
    return { code: EXIT.failed };
  }
}

/** A job's token names its project, which is where its pipeline is paid from. Undefined: nobody said. */
function whoseJobs(
  { projectId, projectPath, namespaceId, ref, refProtected, pipelineSource, userId }: RequestPlace,
  { env }: Pick<TerminalIo, 'env'>,
) {
  const run = withoutAbsent({ ref, refProtected, pipelineSource, userId });
  if (env[ENV_ID_TOKEN]) return run;
  const project = projectId ?? projectPath;
  if (project !== undefined) return { ...run, project };
  return namespaceId === undefined ? undefined : { ...run, group: namespaceId };
}

/** One job as a console is asked about it. */
export function jobAsked(
  { jobName = '', jobStage: stage, jobTags = [], ...request }: AdmissionRequest,
  classTags: readonly string[],
): AskedPipelineJob {
  const { image, services, environment, timeoutSeconds, variables, hiddenVariables } = request;
  const { pullPolicies, dockerUser, kubernetesUser } = request;
  return {
    name: jobName,
    tags: [...new Set([...classTags, ...jobTags])],
    ...withoutAbsent({ stage, image, pullPolicies, dockerUser, kubernetesUser, environment, timeoutSeconds }),
    ...(services !== undefined && services.length > 0 && { services }),
    ...(variables !== undefined && Object.keys(variables).length > 0 && { variables }),
    ...withoutAbsent({ hiddenVariables }),
  };
}
