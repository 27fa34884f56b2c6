import { expect, test } from 'vitest';
import { silentLog } from '../../../functions/core/environment/environment.ts';
import { GitLabError, type GitLabErrorCode } from '../../../functions/core/gitlab/gitlab.ts';
import { PROVEN_FOR_MS, tokenProof } from '../../../functions/watchdog/watch.ts';

function aProof() {
  const site = { nowMs: 0, asked: 0, fails: undefined as GitLabErrorCode | undefined };
  const prove = tokenProof({
    controller: {
      state: async () => {
        site.asked += 1;
        if (site.fails !== undefined) throw new GitLabError(site.fails, 'no');
        return 'enabled';
      },
    },
    clock: { nowMs: () => site.nowMs },
    log: silentLog,
  });
  return { site, prove };
}

test('a token that works is tried once an hour', async () => {
  const { site, prove } = aProof();
  for (let minute = 0; minute < 60; minute += 1) {
    expect(await prove()).toBe('accepted');
    site.nowMs += 60_000;
  }
  expect(site).toMatchObject({ nowMs: PROVEN_FOR_MS, asked: 1 });
  await prove();
  expect(site.asked).toBe(2);
});

test.each(['gitlab_refused', 'gitlab_unreadable'] as const)(
  'one that ends with %s is told with every look until there is another',
  async (code) => {
    const { site, prove } = aProof();
    site.fails = code;
    expect([await prove(), await prove()]).toEqual(['refused', 'refused']);
    site.fails = undefined;
    expect(await prove()).toBe('accepted');
  },
);

test.each(['gitlab_unavailable', 'gitlab_rate_limited'] as const)(
  'a GitLab that does not answer (%s) says nothing about the token, and is asked again',
  async (code) => {
    const { site, prove } = aProof();
    site.fails = code;
    expect([await prove(), await prove()]).toEqual(['accepted', 'accepted']);
    expect(site.asked).toBe(2);
  },
);
