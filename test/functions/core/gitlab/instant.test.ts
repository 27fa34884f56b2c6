import { expect, test } from 'vitest';
import { readGitLabInstant } from '../../../../functions/core/gitlab/job-reader.ts';

test.each([
  ['2024-06-11 03:13:06 UTC', '2024-06-11T03:13:06.000Z'],
  ['2024-06-11T03:13:06Z', '2024-06-11T03:13:06.000Z'],
  ['2024-06-11T03:13:06.5Z', '2024-06-11T03:13:06.500Z'],
  ['2024-06-11T03:13:06.123456Z', '2024-06-11T03:13:06.123Z'],
  ['2024-06-11T05:13:06+02:00', '2024-06-11T03:13:06.000Z'],
  ['2024-06-10 22:13:06 -0500', '2024-06-11T03:13:06.000Z'],
  ['2024-06-11T17:13:06+14:00', '2024-06-11T03:13:06.000Z'],
  ['2024-02-29 23:59:59 UTC', '2024-02-29T23:59:59.000Z'],
])('%s is read as the instant it names', (text, expected) => {
  expect(new Date(readGitLabInstant(text) ?? Number.NaN).toISOString()).toBe(expected);
});

test.each([
  '',
  'yesterday',
  '2024-06-11',
  '2024-06-11 03:13:06',
  '2023-02-29 00:00:00 UTC',
  '2024-13-01 00:00:00 UTC',
  '2024-00-10 00:00:00 UTC',
  '2024-06-11 24:00:00 UTC',
  '2024-06-11 03:60:06 UTC',
  '2024-06-11T03:13:06+15:00',
  '0024-06-11 03:13:06 UTC',
  ' 2024-06-11 03:13:06 UTC',
])('%j is no instant rather than a wrong one', (text) => {
  expect(readGitLabInstant(text)).toBeUndefined();
});
