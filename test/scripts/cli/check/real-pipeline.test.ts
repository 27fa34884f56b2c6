import { expect, test } from 'vitest';
import { runDesk } from '../desk-run.ts';
import { PROJECT, ROOT } from './check-bench.ts';

test('the bundled pipeline is checked without a question left, and has jobs of every runner class', async () => {
  const { out } = await runDesk(['check', 'scripts/local/pipelines/web-shop', ...PROJECT, '--json'], ROOT);
  const { jobs, result, notRead, problems } = JSON.parse(out);
  expect(jobs).toHaveLength(25);
  expect({ notRead, problems }).toEqual({ notRead: [], problems: [] });
  expect(result).toBe('rejected');
  const classes = new Set(jobs.map(({ runnerClass }: { runnerClass: string }) => runnerClass));
  expect([...classes].sort()).toEqual(['gpu', 'large', 'linux', 'medium', 'small']);
});
