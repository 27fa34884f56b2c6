import type { Directory } from '../../../policies/place/directory.ts';
import { placementOf } from '../../../policies/place/placement.ts';
import type { Policy } from '../../../policies/policy.ts';
import type { Reason } from '../../../policies/reason.ts';
import { bindingFirst } from '../../../policies/text/reason-texts.ts';
import { disclosureFor } from '../../../policies/text/rejection-text.ts';
import { limitNameFirst } from '../../../policies/units/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { JobRecord } from '../../core/ledger/index.ts';
import { jobPagePath } from '../../core/notify/console-links.ts';
import {
  FINANCE,
  groupsAround,
  type Ownership,
  type Recipient,
  recipientKey,
  subjectLabel,
} from '../../core/notify/recipient.ts';
import type { Example } from './notice.ts';
import { type NoticeFormat, name, noticeAmount } from './notice-format.ts';

interface CausesFor {
  /** The group that is told of. */
  readonly subject: string;
  readonly to: Recipient;
  readonly ownership: Ownership;
  readonly policy: Policy;
  readonly telling: NoticeFormat;
}

interface Cause {
  readonly text: string;
  readonly jobs: number;
}

const CAUSES_MAX = 4;
const EXAMPLES_MAX = 3;

/** What stopped how many, most first: the limit that binds each job, or the rule. */
export function causesOf(records: readonly JobRecord[], of: CausesFor): readonly Cause[] {
  const jobs = new Map<string, number>();
  for (const record of records) {
    const [first, ...rest] = record.violations.filter(({ mode }) => mode === 'enforce');
    if (first === undefined) continue;
    const { binding } = bindingFirst([first, ...rest]);
    const text = causeText(binding.reason, binding.rule, record, of);
    jobs.set(text, (jobs.get(text) ?? 0) + 1);
  }
  return [...jobs]
    .map(([text, count]) => ({ text, jobs: count }))
    .sort((a, b) => b.jobs - a.jobs)
    .slice(0, CAUSES_MAX);
}

/** An owner reads of somebody else's limit what the job's own page says, no more. */
function causeText(reason: Reason, rule: string, record: JobRecord, of: CausesFor): string {
  if (!('limitAmount' in reason)) return `Rule ${name(rule)}`;
  const { directory } = of.ownership;
  const what = `${limitNameFirst(reason)} of ${subjectLabel(reason.subject, directory)}`;
  const owned =
    recipientKey(of.to) === recipientKey(FINANCE) ||
    groupsAround(reason.subject, directory).includes(of.subject);
  const disclosure = disclosureFor(placeOf(record, of), of.policy.disclose);
  if (owned || disclosure === 'all')
    return `${what}, ${noticeAmount(reason.limitAmount, reason.unit, of.telling)}`;
  return disclosure === 'none' ? 'A limit above it' : what;
}

function placeOf({ jobId, facts }: JobRecord, { ownership }: CausesFor) {
  const { projectId, groupId, rootId, asked } = facts;
  return placementOf(
    {
      jobId,
      ...withoutAbsent({
        projectId,
        namespaceId: groupId,
        rootNamespaceId: rootId,
        projectVisibility: asked?.projectVisibility,
      }),
    },
    ownership.directory,
  );
}

/** The latest, each once: GitLab's retries ask about one job under several numbers. */
export function examplesOf(
  records: readonly JobRecord[],
  directory: Directory | undefined,
): readonly Example[] {
  const tries = new Map<string, JobRecord[]>();
  for (const record of records) {
    const { projectId, pipelineId, jobName } = record.facts;
    const key = pipelineId === undefined ? record.jobId : JSON.stringify([projectId, pipelineId, jobName]);
    tries.set(String(key), [...(tries.get(String(key)) ?? []), record]);
  }
  return [...tries.values()].slice(0, EXAMPLES_MAX).flatMap((same) => {
    const [record] = same;
    if (record === undefined) return [];
    const { jobName, projectId } = record.facts;
    // The record's own path is what somebody sent; ids decide.
    const projectPath = projectId === undefined ? undefined : directory?.projectById.get(projectId)?.path;
    const called = jobName === undefined ? `Job ${record.jobId}` : `Job ${record.jobId} "${name(jobName)}"`;
    const where = projectPath === undefined ? '' : ` in ${name(projectPath)}`;
    const again = same.length > 1 ? `, ${same.length} tries` : '';
    return [{ text: `${called}${where}${again}`, page: jobPagePath(record.jobId) }];
  });
}
