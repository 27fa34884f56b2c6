import type { Directory } from '../../../policies/directory.ts';
import { placementOf } from '../../../policies/placement.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { decisionIdOf } from '../../core/admission/decide.ts';
import type { JobRecord } from '../../core/ledger/ledger.ts';
import type { Rejections } from '../groups/model.ts';
import type { CallerView, ReadContext } from '../reading/context.ts';
import type { Scope } from '../reading/scope.ts';
import { violationText } from './decision-lines.ts';

/** The ledger cuts paths that make a record too large to these lengths: a link with such a path may lead nowhere. */
const CUT_LENGTHS: ReadonlySet<number> = new Set([60, 240]);

export function reportJobUrl(
  gitlabUrl: string | undefined,
  job: { readonly jobId: number; readonly projectId?: number; readonly projectPath?: string },
  directory: Directory,
): string | undefined {
  const { jobId, projectPath = '' } = job;
  const known = directory.projectById.get(job.projectId ?? 0)?.path;
  const path = known || (CUT_LENGTHS.has(projectPath.length) ? '' : projectPath);
  if (gitlabUrl === undefined || path === '') return undefined;
  return `${gitlabUrl}/${path.split('/').map(encodeURIComponent).join('/')}/-/jobs/${jobId}`;
}

/** Returns true if the caller sees the group of the decision, or the project's current one. */
export const isVisible = ({ facts: { groupId, projectId } }: JobRecord, scope: Scope): boolean =>
  scope.seesAll ||
  (groupId !== undefined && scope.seesGroup(groupId)) ||
  (projectId !== undefined && scope.sees(`project/${projectId}`));

export function recordPlaceOf({ jobId, facts }: JobRecord, directory: Directory) {
  const { projectId, projectPath, groupId, rootId, asked } = facts;
  const projectVisibility = asked?.projectVisibility;
  const ids = { namespaceId: groupId, rootNamespaceId: rootId };
  return placementOf(
    { jobId, ...withoutAbsent({ projectId, projectPath, projectVisibility, ...ids }) },
    directory,
  );
}

const SHOWN_MAX = 20;
/** Some of the latest were admitted since, or ran nevertheless. */
const READ_MAX = 30;

export async function rejectedJobs(
  subject: string,
  { directory, scope }: CallerView,
  { usage, ledger, policy, gitlabUrl }: ReadContext,
): Promise<Rejections['latest']> {
  const [list] = await usage.readRejections([subject]);
  const ids = (list?.jobs ?? []).slice(0, READ_MAX).map(({ jobId }) => jobId);
  const records = ids.length === 0 ? [] : await ledger.readRecords(ids);
  return records
    .flatMap((record) => (record?.state === 'REJECTED' ? [record] : []))
    .slice(0, SHOWN_MAX)
    .map((record) => {
      const { jobId, decidedAtMs: atMs, facts } = record;
      const { projectId, jobName } = facts;
      const disclosure = disclosureFor(recordPlaceOf(record, directory), policy.disclose);
      const projectPath = directory.projectById.get(projectId ?? 0)?.path || facts.projectPath;
      const url = reportJobUrl(gitlabUrl, { ...facts, jobId }, directory);
      return {
        ...{ jobId, decisionId: decisionIdOf(record), atMs },
        ...withoutAbsent({ projectId, projectPath, jobName, url }),
        reasons: record.violations.map(({ rule, reason }) => ({
          ...{ rule, code: reason.code },
          text: violationText(reason, { scope, disclosure, currency: policy.currency }),
        })),
      };
    });
}
