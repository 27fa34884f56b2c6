import { expect, test } from 'vitest';
import { byVersion, fallsBack, routerAccess } from '../../../../../functions/core/gitlab/runners.ts';

test.each([
  ['17.11.3', 'none'],
  ['18.8.9', 'none'],
  ['v18.9.0', 'environment'],
  ['18.10.1', 'environment'],
  ['18.11.0~pre.41.gabc', 'feature_flag'],
  ['19.4.0', 'feature_flag'],
  ['100.0.0', 'feature_flag'],
  ['development', 'unknown'],
  ['', 'unknown'],
  [undefined, 'unknown'],
])('a runner of version %s reaches the job router: %s', (version, support) => {
  expect(routerAccess(version)).toBe(support);
});

test('versions are compared as numbers, and from 19.2 on a runner falls back', () => {
  expect(['19.0.0', '18.9.0', '18.10.2', '18.9.7'].sort(byVersion)).toEqual([
    '18.9.0',
    '18.9.7',
    '18.10.2',
    '19.0.0',
  ]);
  expect(['19.1.9', '19.2.0', 'development', undefined].map(fallsBack)).toEqual([false, true, false, false]);
});
