import { expect, test } from 'vitest';
import { reportJobUrl } from '../../../../functions/answers/job/recorded-job.ts';
import { directoryOf } from '../../../../policies/directory.ts';

const GITLAB = 'https://gitlab.example.com';
const LONG = `acme/${'a'.repeat(55)}`;
const directory = directoryOf(
  [{ id: 1, path: 'acme', personal: false }],
  [{ id: 7, groupId: 1, path: LONG }],
);

test.each([
  ['as long as the ledger cuts paths', { projectId: 8, projectPath: LONG }, undefined],
  ['whole', { projectId: 8, projectPath: 'acme/a b' }, `${GITLAB}/acme/a%20b/-/jobs/5`],
  [
    'of that length in the directory',
    { projectId: 7, projectPath: 'acme/old' },
    `${GITLAB}/${LONG}/-/jobs/5`,
  ],
  ['empty', { projectPath: '' }, undefined],
  ['unknown', {}, undefined],
])('a job links to its page when its path is %s: %j', (_, job, url) => {
  expect(reportJobUrl(GITLAB, { jobId: 5, ...job }, directory)).toBe(url);
});

test('without an address of GitLab nothing links', () => {
  expect(reportJobUrl(undefined, { jobId: 5, projectPath: 'acme/web' }, directory)).toBeUndefined();
});
