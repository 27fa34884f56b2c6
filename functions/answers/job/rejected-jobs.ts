import { placementOf } from '../../../policies/place/placement.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { decisionIdOf } from '../../core/admission/index.ts';
import type { JobRecord } from '../../core/ledger/index.ts';
import type { ReadContext } from '../reading/reading.ts';
import type { Places, Scope } from '../reading/scope.ts';
import type { RejectedJob } from '../usage/model.ts';
import { violationText } from './disclosed-violation.ts';
import { reportJobUrl } from './job-url.ts';

const SHOWN_MAX = 20;
/** Some of the latest were let in since, or ran after all. */
const READ_MAX = 30;

/** The jobs rejected last, with their reasons from their records: one list and thirty records. @throws {LedgerError} */
export async function rejectedJobs(
  subject: string,
  { directory }: Places,
  scope: Scope,
  { usage, ledger, policy, gitlabUrl }: ReadContext,
): Promise<readonly RejectedJob[]> {
  const [list] = await usage.readRejections([subject]);
  const ids = (list?.jobs ?? []).slice(0, READ_MAX).map(({ jobId }) => jobId);
  if (ids.length === 0) return [];
  const records = await ledger.readRecords(ids);
  return records
    .filter((record) => record?.state === 'REJECTED')
    .filter((record) => record !== undefined)
    .slice(0, SHOWN_MAX)
    .map((record) => {
      const { projectId, projectPath, jobName } = record.facts;
      const disclosure = disclosureFor(recordPlaceOf(record, directory), policy.disclose);
      const path = (projectId && directory.projectById.get(projectId)?.path) || projectPath;
      const url = reportJobUrl(gitlabUrl, { ...record.facts, jobId: record.jobId }, directory);
      return {
        jobId: record.jobId,
        decisionId: decisionIdOf(record),
        atMs: record.decidedAtMs,
        ...withoutAbsent({ projectId, projectPath: path, jobName, url }),
        reasons: record.violations.map(({ rule, reason }) => ({
          rule,
          code: reason.code,
          text: violationText(reason, { scope, disclosure, currency: policy.currency }),
        })),
      };
    });
}

/** Returns the place of a recorded job, by its record. */
export function recordPlaceOf({ jobId, facts }: JobRecord, directory: Places['directory']) {
  const { projectId, projectPath, groupId, rootId, asked } = facts;
  return placementOf(
    {
      jobId,
      ...withoutAbsent({
        projectId,
        projectPath,
        namespaceId: groupId,
        rootNamespaceId: rootId,
        projectVisibility: asked?.projectVisibility,
      }),
    },
    directory,
  );
}
