import { expect, test } from 'vitest';
import { groupHookKey } from '../../../../functions/core/gitlab/group-hooks.ts';
import type { GitLabVersion } from '../../../../scripts/local/gitlab/webhooks.ts';
import { HOOK_URL, setupBench, someGroups } from './setup-bench.ts';

const SETUP = `setup --webhook-url ${HOOK_URL}`;
const ROTATE = `rotate-webhook-key --webhook-url ${HOOK_URL}`;
const groups = someGroups(3);
/** A receiver has read the keys now, or up to so long ago. */
const STALE_MS = 5 * 60_000;

/** The secret that a webhook's key was derived from. */
const secretOf = (key: string | undefined, groupId: number, secrets: readonly string[]): string | undefined =>
  secrets.find((secret) => groupHookKey(secret, groupId) === key);

/** A set-up whose webhooks are watched: at every moment each of them has a key that every receiver takes. */
function watched(version: GitLabVersion = '19.4') {
  const name = version === '19.4' ? 'webhook-secrets' : 'webhook-tokens';
  const read: { readonly atMs: number; readonly keys: readonly string[] }[] = [];
  const refusedAtMs: number[] = [];
  let isWatched = false;
  const bench = setupBench({
    version,
    administration: { groups },
    onMoment: () => {
      if (isWatched) look();
    },
  });
  const seen = new Set<string>();
  const keys = (): readonly string[] => {
    const kept = bench.kept(name)?.split('\n') ?? [];
    for (const key of kept) seen.add(key);
    return kept;
  };
  const hookKeys = (): readonly (string | undefined)[] =>
    groups.flatMap(({ id }) =>
      bench.local.groupHooks
        .of(id)
        .map(({ token, signingToken }) => secretOf(signingToken ?? token, id, [...seen, ...keys()])),
    );
  const look = (): void => {
    const nowMs = bench.clock.nowMs();
    read.push({ atMs: nowMs, keys: keys() });
    const oldest = read.findLast(({ atMs }) => atMs <= nowMs - STALE_MS) ?? read[0];
    for (const key of hookKeys())
      for (const taken of [keys(), oldest?.keys ?? []])
        if (key === undefined || !taken.includes(key)) refusedAtMs.push(nowMs);
  };
  const setUp = async () => {
    expect((await bench.run(SETUP)).code).toBe(0);
    const [first] = keys();
    isWatched = true;
    look();
    return first;
  };
  const run = async (words: string) => {
    const told = await bench.run(words);
    if (isWatched) look();
    expect(refusedAtMs).toEqual([]);
    return told;
  };
  return { ...bench, run, keys, hookKeys, setUp };
}

test.each(['18.11', '19.4'] as const)(
  'GitLab %s: one command, and at no moment has a webhook a key that is not taken',
  async (version) => {
    const { run, keys, hookKeys, setUp, clock } = watched(version);
    const old = await setUp();
    const beforeMs = clock.nowMs();
    const { code, out } = await run(ROTATE);
    expect([code, out.match(/^wrong/m)]).toEqual([0, null]);
    expect(out).toContain('made a new key, stored next to the old one in ');
    expect(out).toContain('repaired for 3 groups');
    expect(out).toContain('the old key is not taken any more');
    const [key, ...others] = keys();
    expect([others, key === old]).toEqual([[], false]);
    expect(hookKeys()).toEqual([key, key, key]);
    expect(clock.nowMs() - beforeMs).toBeGreaterThanOrEqual(30 * 60_000);
    expect((await run(`status --webhook-url ${HOOK_URL}`)).code).toBe(0);
  },
);

test('a webhook that cannot be changed keeps the old key valid until it can', async () => {
  const { run, keys, hookKeys, setUp, local, clock } = watched();
  const old = await setUp();
  await run(`${ROTATE} --wait 0`);
  clock.advance(15 * 60_000);
  local.faults.answerRest({ status: 403 }, Number.POSITIVE_INFINITY);
  const refused = await run(ROTATE);
  expect(refused.code).toBe(2);
  local.faults.clear();
  expect(hookKeys()).toEqual([old, old, old]);
  expect(keys()).toContain(old);
  local.faults.answerRest({ status: 502 }, Number.POSITIVE_INFINITY);
  expect((await run(ROTATE)).code).toBe(1);
  local.faults.clear();
  expect((await run(ROTATE)).code).toBe(0);
  expect(keys()).not.toContain(old);
});

test('killed at any call and run again, it ends with one key that every webhook has', async () => {
  const alive = watched();
  await alive.setUp();
  const { calls } = await alive.run(ROTATE);
  expect(calls).toBeGreaterThan(12);
  for (let at = 1; at <= calls; at += 1)
    for (const when of ['before', 'after'] as const) {
      const { run, keys, hookKeys, setUp, dieAt } = watched();
      const old = await setUp();
      dieAt({ at, when });
      await run(ROTATE);
      dieAt(undefined);
      const { code, out } = await run(ROTATE);
      expect(code, `died ${when} call ${at}: ${out}`).toBe(0);
      const [key, ...others] = keys();
      expect([others, key === old, hookKeys()]).toEqual([[], false, [key, key, key]]);
    }
});
