import { expect, test } from 'vitest';
import type { GitLabJob } from '../../../../functions/core/gitlab/gitlab.ts';
import { enforcementProof } from '../../../../functions/core/job-ends/enforcement-proof.ts';
import type { JobRecord } from '../../../../functions/core/ledger/ledger.ts';
import { blocked, someFacts } from '../../../support/ledger/asks.ts';
import { aRecord as someRecord } from '../../../support/ledger/rollup-bench.ts';

const NOW_MS = 10_000_000;

function aRecord(jobId: number, more: Partial<JobRecord> = {}): JobRecord {
  const { dueAtMs: _due, ...rest } = someRecord({
    jobId,
    facts: someFacts({ projectId: 9 }),
    decidedAtMs: 0,
  });
  return { ...rest, ...((more.state ?? 'HELD') === 'HELD' && { dueAtMs: NOW_MS }), ...more };
}

const aGitLabJob = (jobId: number, more: Partial<GitLabJob> = {}): GitLabJob => ({
  jobId,
  projectId: 9,
  status: 'success',
  startedAtMs: 1_000,
  finishedAtMs: 61_000,
  durationSeconds: 60,
  ...more,
});

const byRouter: Partial<GitLabJob> = {
  status: 'failed',
  failureReason: 'job_router_failure',
  durationSeconds: 0.1,
};
const { durationSeconds: _, finishedAtMs: __, ...running } = aGitLabJob(1, { status: 'running' });
const settled: Partial<JobRecord> = { state: 'SETTLED', durationSeconds: 60 };
const bypassed: Partial<JobRecord> = { ...settled, violations: [blocked], unchecked: 'bypass' };

test.each<[string, Partial<JobRecord> | undefined, Partial<GitLabJob> | undefined, string | undefined]>([
  ['a rejected job that failed in the router is as it should be', { state: 'REJECTED' }, byRouter, undefined],
  ['a rejected job that ran is charged', { state: 'REJECTED' }, {}, 'rejected_ran: settle'],
  ['a rejected job that ran and is charged is still told', bypassed, {}, 'rejected_ran: none'],
  ['a rejected job that runs is waited for', { state: 'REJECTED' }, running, 'rejected_ran: wait'],
  ['a job that ran unseen is a bypass', undefined, {}, 'unseen: charge as bypass'],
  ['a job the router let fail is no bypass', undefined, byRouter, undefined],
  ['a hold of a running job stands', {}, running, undefined],
  ['a hold of a finished job is settled', {}, {}, 'ended: settle'],
  ['a hold of a job another controller rejected goes back', {}, byRouter, 'admitted_rejected: release'],
  [
    'a hold of a job canceled before it began goes back',
    {},
    { status: 'canceled', startedAtMs: undefined, durationSeconds: undefined } as unknown as GitLabJob,
    'never_started: release',
  ],
  ['a hold of a job GitLab does not know expires', {}, undefined, 'gone: expire'],
  [
    'a hold that is not due waits for a job GitLab does not know yet',
    { dueAtMs: NOW_MS + 1 },
    undefined,
    'gone: wait',
  ],
  ['a settled job GitLab has forgotten stays', settled, undefined, undefined],
  ['a settled job with the same duration agrees', settled, { durationSeconds: 59.4 }, undefined],
  ['a settled job that ran longer is corrected', settled, { durationSeconds: 60.2 }, 'duration: correct'],
  ['a released job that ran is corrected', { state: 'RELEASED' }, {}, 'released_ran: correct'],
  ['a settled job the router let fail is corrected', settled, byRouter, 'admitted_rejected: correct'],
])('%s', (_name, record, gitlabJob, told) => {
  const { findings, actions } = enforcementProof(
    [{ record: record && aRecord(1, record), gitlabJob: gitlabJob && aGitLabJob(1, gitlabJob) }],
    NOW_MS,
  );
  expect(findings.map(({ kind, remedy }) => `${kind}: ${remedy}`)).toEqual(told === undefined ? [] : [told]);
  const acts = told !== undefined && !told.endsWith('wait') && !told.endsWith('none');
  expect(actions).toHaveLength(acts ? 1 : 0);
});
