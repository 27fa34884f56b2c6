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

const FAILED_OTHERWISE = { ...FAILED, message: 'Runner controller 1: no budget' };
const RUNS_STOPPED = { ...job('runs', 'failed', STOPPED), ...silent };
const FAILS_RAN = { ...job('fails', 'success'), ...silent };

test.each<[what: string, runs: Evidence, fails: Evidence, is: readonly [string, string]]>([
  ['as it must be', RAN, FAILED, ['proven', 'proven']],
  ['GitLab does not tell the text', RAN, { ...FAILED, ...silent }, ['proven', 'proven']],
  ['the text is another one', RAN, FAILED_OTHERWISE, ['proven', 'unreached']],
  [
    'let through, and the runner broke',
    { ...job('runs', 'failed', 'runner_system_failure'), ...admitted, ...silent },
    FAILED,
    ['proven', 'proven'],
  ],
  [
    'the variants have changed places',
    { ...RUNS_STOPPED, ...admitted },
    { ...FAILS_RAN, ...rejected },
    ['contrary', 'contrary'],
  ],
  ['the router does not take "admitted"', { ...RUNS_STOPPED, ...unheard }, FAILED, ['contrary', 'proven']],
  [
    'another controller stops what we admitted',
    { ...RUNS_STOPPED, ...admitted, message: 'no budget' },
    FAILED,
    ['unreached', 'proven'],
  ],
  ['nobody asked about the one', { ...RAN, ...unasked }, FAILED, ['bypassed', 'proven']],
  ['nobody asked about the other', RAN, { ...FAILS_RAN, ...unasked }, ['proven', 'bypassed']],
  [
    'they failed before anybody was asked',
    { ...RUNS_STOPPED, ...unasked, message: 'Agent connection not found' },
    { ...job('fails', 'failed', STOPPED), ...unasked, ...silent },
    ['unreached', 'unreached'],
  ],
  [
    'time is up',
    { ...job('runs', 'pending'), ...unasked, ...silent },
    { ...job('fails', 'canceled'), ...unasked, ...silent },
    ['unreached', 'unreached'],
  ],
])('%s', (_, runs, fails, is) => {
  const lines = new SetupLines();
  const verdict = judgeCanaryJobs(runs, fails, TEXT, lines);
  expect([verdict.admitted, verdict.rejected]).toEqual(is);
  for (const [at, { standing, remedy }] of lines.all.entries())
    expect([standing, remedy !== undefined]).toEqual(
      is[at] === 'proven' ? ['right', false] : ['wrong', true],
    );
});
