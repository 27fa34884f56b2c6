import type { CheckedPipeline, RequestedPipelineJob } from '../../../functions/answers/job/model.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { type ApiClient, readInProcess } from '../api/answers.ts';
import { canUseConsole, chooseConsole, consoleClient, withTable } from '../api/open-api.ts';
import { ENV_ID_TOKEN } from '../command-fetch.ts';
import { type PlaceFlags, placeInLedger, type RequestPlace } from '../evaluation/place-flags.ts';
import { type LedgerFlags, refuseTableFlags } from '../ledger-flags.ts';
import type { RulesFlags } from '../rules-flags.ts';
import { type PipelineCheck, type RequestOptions, requestForJob } from './pipeline-check.ts';

interface LiveStep {
  readonly now?: CheckedPipeline & { readonly decidedBy: 'console' | 'ledger' };
  readonly code: ExitCode;
}

interface LiveAsk extends Omit<RequestOptions, 'jobId'> {
  readonly flags: LedgerFlags & RulesFlags & PlaceFlags;
  readonly nowMs: number;
}

/** Asks a console or ledger to decide without holding anything. @throws {UsageError} if flags contradict or name no project */
export async function liveStep({ jobs }: PipelineCheck, ask: LiveAsk, io: TerminalIo): Promise<LiveStep> {
  const { flags, place } = ask;
  if (flags.ledger === undefined) refuseTableFlags(flags);
  const origin = chooseConsole(flags, io);
  const isNamed = flags.ledger !== undefined || flags.console !== undefined;
  const flag = flags.ledger === undefined ? '--console' : '--ledger';
  const whose = whoseJobs(place, flags.ledger === undefined && Boolean(io.env[ENV_ID_TOKEN]));
  if (isNamed && whose === undefined)
    throw new UsageError(`${flag}: no group is given: expected --project or --group`);
  if (jobs.length === 0 || whose === undefined) return { code: EXIT.ok };
  if (!isNamed && (origin === undefined || !canUseConsole(origin, io))) return { code: EXIT.ok };
  const askedJobs = jobs.map(({ job }, index) => jobAsked(requestForJob(job, { ...ask, jobId: index + 1 })));
  const decide = (api: ApiClient, by: object): Promise<CheckedPipeline> =>
    readInProcess(api.check.$post({ json: { ...by, jobs: askedJobs } }));
  try {
    if (origin !== undefined) {
      const now = await decide(consoleClient(origin, io), whose);
      return { now: { ...now, decidedBy: 'console' }, code: EXIT.ok };
    }
    // The ledger's own directory says where a project is today.
    const now = await withTable(flags, { ...io, nowMs: () => ask.nowMs }, ({ api, directory }) =>
      decide(api, { ...runOf(place), ...placeInLedger(flags, directory) }),
    );
    return { now: { ...now, decidedBy: 'ledger' }, code: EXIT.ok };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    io.err(`${flag}: what is left of the limits is not known: ${reason}\n`);
    return { code: EXIT.failed };
  }
}

/** A job's token names its own project. Returns undefined if neither token nor flags name a project or group. */
function whoseJobs(place: RequestPlace, hasToken: boolean) {
  const { projectId, projectPath, namespaceId } = place;
  if (hasToken) return runOf(place);
  const project = projectId ?? projectPath;
  if (project !== undefined) return { ...runOf(place), project };
  return namespaceId === undefined ? undefined : { ...runOf(place), group: namespaceId };
}

const runOf = ({ ref, refProtected, pipelineSource, userId }: RequestPlace) =>
  withoutAbsent({ ref, refProtected, pipelineSource, userId });

export function jobAsked({
  jobName = '',
  jobStage: stage,
  jobTags = [],
  ...request
}: AdmissionRequest): RequestedPipelineJob {
  const { image, pullPolicies, dockerUser, kubernetesUser, environment, timeoutSeconds } = request;
  const { services, variables, hiddenVariables } = request;
  return {
    ...{ name: jobName, tags: [...new Set(jobTags)] },
    ...withoutAbsent({ stage, image, pullPolicies, dockerUser, kubernetesUser, environment, timeoutSeconds }),
    ...withoutAbsent({ services, variables, hiddenVariables }),
  };
}
