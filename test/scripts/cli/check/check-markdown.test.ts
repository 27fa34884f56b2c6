import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT, UsageError } from '../../../../scripts/terminal/command.ts';
import { repository } from './check-bench.ts';

const RULES = [
  { id: 'budgets', kind: 'budget', mode: 'enforce' },
  { id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'], message: 'Ask @all in acme/images.' },
];
const NOW = `unit: { image: 'alpine:3.22', script: x }
big: { image: 'alpine:3.22', script: x, parallel: 2 }
"/merge | \`@all\`": { image: 'node:24', script: x }
`;
const BEFORE = `unit: { image: 'alpine:3.22', script: x }
old: { image: 'alpine:3.22', script: x }
`;
const house = () =>
  repository({
    files: { '.gitlab-ci.yml': NOW, 'before/.gitlab-ci.yml': BEFORE },
    rules: RULES,
    limits: [{ on: { group: 101 }, money: 0.01, per: 'month' }],
  });
const ARGS = ['.', '--project', 'acme/payments/checkout', '--markdown', 'check.md'];

test('the Markdown tells costs now and before, what is new and gone, and who would be rejected by what', async () => {
  using at = house();
  const { code, out } = await at.check(...ARGS, '--before', 'before', '--json');
  expect(code).toBe(EXIT.wouldReject);
  const { total, before } = JSON.parse(out);
  expect(total).toMatchObject({ jobs: 4, rejected: 4 });
  expect(before).toMatchObject({ jobs: 2 });
  expect(total.costMicros).toBe(2 * before.costMicros);
  const text = readFileSync(join(at.folder, 'check.md'), 'utf8');
  expect(text).toMatch(/^### Tollgate: about [\d.]+ EUR a run, [\d.]+ EUR more than before$/m);
  expect(text).toContain('| Jobs | 4 | 2 |');
  expect(text).toMatch(/^- `big`: new, [\d.]+ EUR$/m);
  expect(text).toMatch(/^- `old`: gone, was [\d.]+ EUR$/m);
  expect(text).toMatch(
    /^- `images`: `\[IMAGE_NOT_ALLOWED\] .*\(`\/merge \| '@all'`\): `Ask @all in acme\/images\.`$/m,
  );
  expect(text).not.toMatch(/^- `unit`/m);
});

test('nothing a file says is a quick action, a mention or a row of its own', async () => {
  using at = house();
  await at.check(...ARGS);
  const text = readFileSync(join(at.folder, 'check.md'), 'utf8');
  expect(text).toContain('| | now |');
  expect(text).not.toMatch(/^\s*\//m);
  // Whatever is left outside of code spans is ours.
  expect(text.replaceAll(/`[^`\n]*`/g, '')).not.toContain('@');
});

test('the last line for people tells both costs, and a target branch without a pipeline is named', async () => {
  using at = house();
  expect((await at.check(...ARGS, '--before', 'before')).out).toMatch(
    /about [\d.]+ EUR a run; before about [\d.]+ EUR;/,
  );
  await expect(at.check(...ARGS, '--before', 'nowhere')).rejects.toThrow(UsageError);
});
