/** What two jobs and our answers about them say: every way the proof can come out. */
import { expect, test } from 'vitest';
import { judgeCanaryJobs } from '../../../../scripts/cli/gitlab/canary-verdict.ts';
import { SetupLines } from '../../../../scripts/cli/gitlab/setup-step.ts';

const TEXT = 'tollgate canary 1f: this job was to be rejected';
type Evidence = Parameters<typeof judgeCanaryJobs>[0];

const job = (name: 'runs' | 'fails', status: string, failure_reason?: string): Pick<Evidence, 'job'> => ({
  job: {
    ...{ id: name === 'runs' ? 1 : 2, name: `tollgate-canary-${name}`, status, tag_list: [] },
    ...(failure_reason !== undefined && { failure_reason }),
  },
});
const admitted = { sent: { outcome: 'admitted', heard: true } } as const;
const unheard = { sent: { outcome: 'admitted', heard: false } } as const;
const rejected = { sent: { outcome: 'rejected', heard: true } } as const;
const unasked = { sent: undefined };
const silent = { message: undefined };
const said = { message: `The Job Router failed to run this job. Runner controller 3: ${TEXT}` };
const STOPPED = 'job_router_failure';

const RAN = { ...job('runs', 'success'), ...admitted, ...silent };
const FAILED = { ...job('fails', 'failed', STOPPED), ...rejected, ...said };

test.each<{ what: string; runs?: Evidence; fails?: Evidence; is: readonly [string, string] }>([
  { what: 'as it must be', is: ['proven', 'proven'] },
  {
    what: 'GitLab does not tell the text',
    fails: { ...FAILED, ...silent },
    is: ['proven', 'proven'],
  },
  {
    what: 'the text is another one',
    fails: { ...FAILED, message: 'Runner controller 1: no budget' },
    is: ['proven', 'unreached'],
  },
  {
    what: 'let through, and the runner broke',
    runs: { ...job('runs', 'failed', 'runner_system_failure'), ...admitted, ...silent },
    is: ['proven', 'proven'],
  },
  {
    what: 'the arms have changed places',
    runs: { ...job('runs', 'failed', STOPPED), ...admitted, ...silent },
    fails: { ...job('fails', 'success'), ...rejected, ...silent },
    is: ['contrary', 'contrary'],
  },
  {
    what: 'the router does not take "admitted"',
    runs: { ...job('runs', 'failed', STOPPED), ...unheard, ...silent },
    is: ['contrary', 'proven'],
  },
  {
    what: 'another controller stops what we admitted',
    runs: { ...job('runs', 'failed', STOPPED), ...admitted, message: 'no budget' },
    is: ['unreached', 'proven'],
  },
  {
    what: 'nobody asked about the one',
    runs: { ...job('runs', 'success'), ...unasked, ...silent },
    is: ['bypassed', 'proven'],
  },
  {
    what: 'nobody asked about the other',
    fails: { ...job('fails', 'success'), ...unasked, ...silent },
    is: ['proven', 'bypassed'],
  },
  {
    what: 'they failed before anybody was asked',
    runs: { ...job('runs', 'failed', STOPPED), ...unasked, message: 'Agent connection not found' },
    fails: { ...job('fails', 'failed', STOPPED), ...unasked, ...silent },
    is: ['unreached', 'unreached'],
  },
  {
    what: 'time is up',
    runs: { ...job('runs', 'pending'), ...unasked, ...silent },
    fails: { ...job('fails', 'canceled'), ...unasked, ...silent },
    is: ['unreached', 'unreached'],
  },
])('$what', ({ runs = RAN, fails = FAILED, is }) => {
  const lines = new SetupLines();
  const verdict = judgeCanaryJobs(runs, fails, TEXT, lines);
  expect([verdict.admitted, verdict.rejected]).toEqual(is);
  for (const [at, { standing, remedy }] of lines.all.entries())
    expect([standing, remedy !== undefined]).toEqual(
      is[at] === 'proven' ? ['right', false] : ['wrong', true],
    );
});
