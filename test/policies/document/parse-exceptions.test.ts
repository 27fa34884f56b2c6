import { expect, test } from 'vitest';
import { problemsOfLimits } from '../documents.ts';

const glass = {
  on: { group: 1 },
  id: 'b',
  users: [5],
  jobs: 3,
  from: '2026-11-21',
  until: '2026-11-22',
  reason: 'r',
};
const limit = { on: { group: 1 }, jobs: 3 };
const freeze = { on: { group: 1 }, reason: 'r' };
const byDefault = { groups: 'acme/*', jobs: 3 };

test.each<[object, string]>([
  [
    { freezes: [{ on: 'instance' }] },
    'freezes[0].reason: missing; expected why nothing starts, in a text of at most 200 characters',
  ],
  [
    { freezes: [{ ...freeze, from: '2026-12-01', until: '2026-11-01' }] },
    "freezes[0].until: '2026-11-01'; expected a later instant than from",
  ],
  [
    {
      freezes: [
        { ...freeze, id: 'a' },
        { ...freeze, id: 'a' },
      ],
    },
    "freezes[1].id: 'a'; expected id to be named once",
  ],
  [
    { breakglass: [{ ...glass, users: [] }] },
    'breakglass[0]: lets all users in; name users, or protected: true, or both',
  ],
  [
    { breakglass: [{ ...glass, on: { runner_class: 'large' } }] },
    'breakglass[0].on: an object with runner_class; expected instance, {group: 101} or {project: 7}: whose jobs it lets in',
  ],
  [
    { breakglass: [{ ...glass, until: '2027-11-22' }] },
    "breakglass[0].until: '2027-11-22'; expected at most 7 days after from; a limit that is too low is raised",
  ],
  [{ group_defaults: [{ ...byDefault, groups: '[' }] }, "group_defaults[0].groups: '['"],
  [
    { group_defaults: [byDefault, byDefault] },
    "group_defaults[1]: is a second limit 'jobs-now' of acme/*; give each an id of its own, or keep one",
  ],
  [
    { limits: [{ ...limit, from: '1.12.2026' }] },
    "limits[0].from: '1.12.2026'; expected a day such as 2026-12-31 or an instant such as 2026-12-31T18:00+01:00",
  ],
  [
    { group_defaults: Array.from({ length: 201 }, () => byDefault) },
    'group_defaults: has 201 entries; expected at most 200',
  ],
])('%j is refused with its place and the remedy', (document, problem) => {
  expect(problemsOfLimits(document).join('\n')).toContain(problem);
});
