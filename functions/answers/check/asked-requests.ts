/** Builds admission requests: from a description, or from a recorded job. Pure. */
import { type Directory, pathKey } from '../../../policies/place/directory.ts';
import { requestOfRecord } from '../../../policies/request/recorded.ts';
import type { AdmissionRequest } from '../../../policies/request/request.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/index.ts';
import type { Scope } from '../reading/scope.ts';
import type { Viewer } from '../reading/viewer.ts';
import type { AskedPipeline, AskedPipelineJob } from './model.ts';

interface AskedRequests {
  /** The subject of the jobs. */
  readonly subject: string;
  readonly projectId: number | undefined;
  readonly requests: readonly { readonly asked: AskedPipelineJob; readonly request: AdmissionRequest }[];
}

interface AskedPlace {
  readonly subject: string;
  readonly request: Pick<AdmissionRequest, 'projectId' | 'projectPath' | 'namespaceId' | 'rootNamespaceId'>;
}

/** Undefined: there is no such project or group, or it is not theirs to see. */
export function requestsAsked(
  asked: AskedPipeline,
  viewer: Viewer,
  scope: Scope,
  directory: Directory,
): AskedRequests | undefined {
  const place = placeAsked(asked, viewer, scope, directory);
  return (
    place && {
      subject: place.subject,
      projectId: place.request.projectId,
      requests: (asked.jobs ?? []).map((job, index) => ({
        asked: job,
        request: requestOf(job, asked, place, index + 1),
      })),
    }
  );
}

/** The same job once more. Undefined: what was asked about it then was not recorded. */
export function requestsAgain({ jobId, facts }: JobRecord): AskedRequests | undefined {
  if (facts.asked === undefined) return undefined;
  const request = requestOfRecord(jobId, facts, facts.asked);
  const { jobName = `job ${jobId}`, jobTags = [] } = request;
  const { projectId, groupId } = facts;
  return {
    subject: projectId === undefined ? `group/${groupId}` : `project/${projectId}`,
    projectId,
    requests: [{ asked: { name: jobName, tags: jobTags }, request }],
  };
}

/** Finds the jobs' place in the directory; the caller's own claims are not trusted. */
function placeAsked(
  { project, group }: AskedPipeline,
  { roles: { jobOfProjectId } }: Viewer,
  scope: Scope,
  directory: Directory,
): AskedPlace | undefined {
  if (project === undefined && jobOfProjectId === undefined) return groupAsked(group, scope, directory);
  const known =
    typeof project === 'string'
      ? directory.projectByPath.get(pathKey(project))
      : directory.projectById.get(project ?? jobOfProjectId ?? 0);
  const subject = `project/${known?.id}`;
  if (known === undefined || group !== undefined || !scope.sees(subject)) return undefined;
  const { id: projectId, path: projectPath, groupId } = known;
  return { subject, request: { projectId, projectPath, ...groupOf(groupId, directory) } };
}

function groupAsked(
  group: AskedPipeline['group'],
  scope: Scope,
  directory: Directory,
): AskedPlace | undefined {
  const known =
    typeof group === 'string'
      ? directory.groupByPath.get(pathKey(group))
      : directory.groupById.get(group ?? 0);
  if (known === undefined || !scope.seesGroup(known.id)) return undefined;
  return { subject: `group/${known.id}`, request: groupOf(known.id, directory) };
}

const groupOf = (namespaceId: number, { chainById }: Directory) => ({
  namespaceId,
  ...withoutAbsent({ rootNamespaceId: chainById.get(namespaceId)?.[0]?.id }),
});

function requestOf(
  {
    name,
    stage,
    tags,
    parallel: _,
    estimateSeconds: _estimate,
    variables = {},
    services = [],
    ...job
  }: AskedPipelineJob,
  { ref, refProtected, pipelineSource, userId }: AskedPipeline,
  place: AskedPlace,
  jobId: number,
): AdmissionRequest {
  return {
    ...job,
    ...place.request,
    ...withoutAbsent({ ref, refProtected, pipelineSource, userId, jobStage: stage }),
    jobId,
    jobName: name,
    jobTags: tags,
    variables,
    services,
  };
}
