import { beforeAll, expect, test } from 'vitest';
import { DEFAULTS, PRIVATE, synthesize } from './synthesized.ts';

/** What a deployment would change, for whoever reviews it. Assets are named by their content, which is not the matter here. */
const withoutHashes = (template: unknown): unknown =>
  JSON.parse(JSON.stringify(template).replace(/\b[0-9a-f]{64}\b/g, 'HASH'));

const templates = new Map<string, unknown>();
beforeAll(() => {
  for (const { name, template } of [DEFAULTS, PRIVATE].flatMap((each) => synthesize(each).stacks)) {
    templates.set(name, withoutHashes(template));
  }
});

test.each([
  'Tollgate-prod-State',
  'Tollgate-prod-Service',
  'Tollgate-private-State',
  'Tollgate-private-Service',
])('%s is deployed as it was reviewed', (name) => {
  expect(templates.get(name)).toMatchSnapshot();
});
