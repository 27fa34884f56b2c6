import { expect, test } from 'vitest';
import { parseAdmissionsEnvelope, parseUnmeteredEnvelope } from '../../../functions/admit/routes.ts';
import { LINES_MAX, REQUESTS_MAX } from '../../../functions/core/contract/admissions.ts';

const requests = (count: number): unknown[] =>
  Array.from({ length: count }, (_, index) => ({ jobId: index + 1 }));

test.each([
  { count: 1, guarantee: 'accepts one request' },
  { count: REQUESTS_MAX, guarantee: 'accepts a full batch' },
])('$guarantee', ({ count }) => {
  const parsed = parseAdmissionsEnvelope({ requests: requests(count), remainingMs: 2000 });
  expect(parsed.ok && parsed.value.entries.length).toBe(count);
});

test.each([
  { body: undefined, path: /^body/, guarantee: 'refuses what is not JSON' },
  { body: [], path: /^body/, guarantee: 'refuses an array' },
  { body: { remainingMs: 1 }, path: /^requests is missing/, guarantee: 'names missing requests' },
  { body: { requests: [], remainingMs: 1 }, path: /^requests is empty/, guarantee: 'refuses an empty batch' },
  {
    body: { requests: requests(REQUESTS_MAX + 1), remainingMs: 1 },
    path: /^requests has 97 entries; expected at most 96/,
    guarantee: 'refuses one request too many, with the number',
  },
  {
    body: { requests: requests(1) },
    path: /^remainingMs is missing/,
    guarantee: 'needs the time that is left',
  },
  {
    body: { requests: requests(1), remainingMs: Number.NaN },
    path: /^remainingMs is NaN/,
    guarantee: 'refuses a time that is not a number',
  },
  {
    body: { requests: requests(1), remainingMs: -1 },
    path: /^remainingMs is -1; expected a number from 0/,
    guarantee: 'refuses a negative time',
  },
])('$guarantee', ({ body, path }) => {
  const parsed = parseAdmissionsEnvelope(body);
  expect(parsed.ok ? [] : parsed.problems).toEqual([expect.stringMatching(path)]);
});

test('reports every problem of a broken envelope at once', () => {
  const parsed = parseAdmissionsEnvelope({ requests: 'no', remainingMs: 'no' });
  expect(parsed.ok ? [] : parsed.problems).toHaveLength(2);
});

test('never quotes what a caller sent', () => {
  const parsed = parseAdmissionsEnvelope({ requests: 'glrct-secret', remainingMs: 'glrct-secret' });
  expect(JSON.stringify(parsed)).not.toContain('secret');
});

test('reads the answers of an unmetered post', () => {
  const parsed = parseUnmeteredEnvelope({ answers: [{}] });
  expect(parsed.ok && parsed.value.length).toBe(1);
  expect(parseUnmeteredEnvelope({ answers: [] }).ok).toBe(false);
});

test.each([
  ['Ab3_-x', 'Ab3_-x'],
  ['', undefined],
  ['a b', undefined],
  ['a\nb', undefined],
  ['x'.repeat(41), undefined],
  [7, undefined],
  [undefined, undefined],
])('a batch is refused for no name it has or has not: %j', (batch, read) => {
  const parsed = parseAdmissionsEnvelope({ requests: [{}], remainingMs: 100, batch });
  expect(parsed).toMatchObject({ ok: true });
  expect(parsed.ok ? parsed.value.batch : 'refused').toBe(read);
});

test('reads who waits, and passes over what is not of the contract', () => {
  const read = (waiting: unknown) => {
    const parsed = parseAdmissionsEnvelope({ requests: requests(1), remainingMs: 2_000, waiting });
    return parsed.ok ? parsed.value.waiting : undefined;
  };
  const jobs = [{ jobId: 1, waitedMs: 700, turn: ['a'], last: true }];
  expect(read({ lines: ['a', 'b'], jobs })).toEqual({ lines: ['a', 'b'], jobs });
  expect(read({})).toEqual({ lines: [], jobs: [] });
  expect(read(undefined)).toBeUndefined();
  expect(read('yes')).toBeUndefined();
  expect(
    read({
      lines: ['a', 7, ''],
      jobs: [{ jobId: 1, waitedMs: -1 }, { jobId: 2, waitedMs: 1, last: 'yes' }, 7],
    }),
  ).toEqual({ lines: ['a'], jobs: [{ jobId: 2, waitedMs: 1, turn: [] }] });
  expect(read({ lines: Array.from({ length: 100 }, (_, at) => `c${at}`) })?.lines).toHaveLength(LINES_MAX);
});
