import { expect, test } from 'vitest';
import { directoryOf } from '../../../policies/place/directory.ts';
import { JOBS_REMEMBERED, plausibilityJudge } from '../../../relay/translate/question-reader.ts';
import { range } from '../../support/relay/commit-bench.ts';

const directory = directoryOf(
  [{ id: 100, path: 'acme', personal: false }],
  [
    { id: 1, groupId: 100, path: 'acme/web' },
    { id: 2, groupId: 100, path: 'acme/api' },
  ],
);
const job = { jobId: 7, pipelineId: 70, projectId: 1, projectPath: 'acme/web', timeoutSeconds: 3_600 };

test.each([
  ['a job as GitLab sends it', {}, 'plausible'],
  [
    'with next to nothing',
    { projectId: undefined, projectPath: undefined, timeoutSeconds: undefined },
    'plausible',
  ],
  ['another text in the place of the path', { projectPath: 'node:24' }, 'impossible'],
  ['a path with a space', { projectPath: 'acme/unit tests' }, 'impossible'],
  ['a path that ends in nothing', { projectPath: 'acme/' }, 'impossible'],
  ['a project the directory does not know yet', { projectId: 3, projectPath: 'acme/new' }, 'plausible'],
  ['a project renamed since', { projectPath: 'acme/shop' }, 'plausible'],
  ['a project made anew under an old path', { projectId: 3, projectPath: 'acme/web' }, 'plausible'],
  [
    'one project’s id with another one’s path',
    { projectId: 2, projectPath: 'acme/WEB' },
    'against_directory',
  ],
])('%s', (_, parts, expected) => {
  expect(plausibilityJudge(() => directory)({ ...job, ...parts } as typeof job)).toBe(expected);
});

test('the same job asked about again is plausible; its id with another pipeline or project is not', () => {
  const judge = plausibilityJudge(() => undefined);
  expect(judge(job)).toBe('plausible');
  expect(judge({ ...job, timeoutSeconds: 60 })).toBe('plausible');
  expect(judge({ ...job, pipelineId: 71 })).toBe('impossible');
  expect(judge({ ...job, projectId: 2 })).toBe('impossible');
});

test('only so many jobs are remembered, the newest', () => {
  const judge = plausibilityJudge(() => undefined);
  for (const jobId of range(1, JOBS_REMEMBERED + 1)) judge({ ...job, jobId });
  expect(judge({ ...job, jobId: 2, pipelineId: 71 })).toBe('impossible');
  expect(judge({ ...job, jobId: 1, pipelineId: 71 })).toBe('plausible');
});
