import { expect, test } from 'vitest';
import { ROOT, runCheck } from './check-bench.ts';

test('the sample pipeline has jobs of every runner class of the sample policy', async () => {
  const project = ['--project', 'acme/payments/checkout'];
  const { out } = await runCheck(ROOT, ['scripts/local/pipelines/web-shop', ...project, '--json']);
  const classes = JSON.parse(out).jobs.map(({ runnerClass }: { runnerClass: string }) => runnerClass);
  expect([...new Set(classes)].sort()).toEqual(['gpu', 'large', 'linux', 'medium', 'small']);
});
