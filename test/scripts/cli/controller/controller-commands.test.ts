import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CANARY_DESCRIPTION } from '../../../../functions/core/gitlab/administration.ts';
import type { CanaryOutcome } from '../../../../functions/core/ledger/controller.ts';
import type { RelayHeartbeat } from '../../../../functions/core/store/health-items.ts';
import type { OpenLedger } from '../../../../scripts/cli/open-ledger.ts';
import { type FakeController, fakeRunnerControllers } from '../../../support/fake-runner-controllers.ts';
import { aProject, runDesk } from '../desk-run.ts';
import { aRequest, ledgerBench } from '../ledger-bench.ts';
import { surrounded } from '../stand-ins.ts';

const ONE: FakeController = { id: 7, description: 'tollgate', state: 'dry_run', connected: true };

/** Nobody has run npm start here. */
const noBooks: OpenLedger = async () => {
  throw new Error('there is no such ledger');
};

interface DeskParts {
  readonly open?: OpenLedger;
  /** What whoever sits there answers; undefined: nobody does. */
  readonly answer?: boolean;
  readonly root?: string;
  readonly nowMs?: () => number;
}

function aDeskWith(parts: DeskParts, ...controllers: readonly FakeController[]) {
  const gitlab = fakeRunnerControllers(controllers);
  const asked: string[] = [];
  const root = parts.root ?? aProject();
  writeFileSync(join(root, 'token'), 'glpat-administrator\n');
  const place = ['--gitlab', 'https://gitlab.example.com', '--token-file', 'token'];
  const answer = (question: string) => {
    asked.push(question);
    return parts.answer;
  };
  const run = (...words: readonly string[]) =>
    runDesk(['controller', ...words, ...place], root, {
      ...surrounded({ ...gitlab.deps, open: parts.open ?? noBooks, answer }),
      ...(parts.nowMs !== undefined && { nowMs: parts.nowMs }),
    });
  /** Runs a command, and says what it left of controller 7. */
  const leaves = async (...words: readonly string[]) => {
    const { code, err } = await run(...words);
    return { code, err, state: gitlab.stateOf(7) };
  };
  return { gitlab, run, leaves, asked };
}

const aDesk = (...controllers: readonly FakeController[]) => aDeskWith({ answer: true }, ...controllers);

/** A ledger of jobs in dry run, a seventh of which were rejected, and relays that write heartbeats to it. */
async function books(heartbeats: readonly Partial<RelayHeartbeat>[] = [], jobs = 14) {
  const rules = [{ id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] }];
  const bench = ledgerBench({ policy: { rules } });
  for (let jobId = 1; jobId <= jobs; jobId += 1) {
    bench.clock.advance(60_000);
    await bench.ask([
      aRequest(jobId, jobId % 7 === 0 ? { image: 'ubuntu:26.04', jobName: `b${jobId}` } : {}),
    ]);
  }
  bench.clock.advance(60_000);
  const usual = { atMs: bench.clock.nowMs() - 10_000, openStreams: 8 };
  const beats = heartbeats.map((beat, at) => ({ relayId: `relay-${at}`, ...usual, ...beat }));
  const opening = (canary?: CanaryOutcome): OpenLedger =>
    bench.opening(undefined, { relayHeartbeats: async () => beats, canary: async () => canary });
  return { opening, open: opening(), root: `${bench.folder}/`, nowMs: bench.clock.nowMs, flags: bench.flags };
}

const PROVEN = { schema: { source: 'gitlab.binpb', hash: 'aa', state: 'proven' } };

test.each([
  ['dry-run', 'enabled', 'dry_run'],
  ['disable', 'enabled', 'disabled'],
  ['enable', 'dry_run', 'enabled'],
] as const)('%s makes a controller that is %s %s', async (word, before, after) => {
  const { gitlab, run } = aDesk({ ...ONE, state: before });
  const { code, out } = await run(word);
  expect([code, gitlab.stateOf(7)]).toEqual([0, after]);
  expect(out).toContain(`Runner controller 7 "tollgate" is ${after}`);
});

test('arming is refused while no relay is connected, and nothing is changed', async () => {
  const { leaves } = aDesk({ ...ONE, connected: false });
  const err = expect.stringContaining('Start the relay first');
  expect(await leaves('enable', '--yes')).toEqual({ code: 2, state: 'dry_run', err });
});

test('among several controllers the wrong one is never changed, nor that of a canary: the number must be told', async () => {
  const canary = { ...ONE, id: 9, description: CANARY_DESCRIPTION, state: 'enabled' };
  const { gitlab, run } = aDesk({ ...ONE, state: 'enabled' }, { ...ONE, id: 8, state: 'enabled' }, canary);
  const { code, err } = await run('dry-run');
  expect(code).toBe(3);
  expect(err).toContain(
    '--controller is missing: GitLab has several, 7 "tollgate" enabled, 8 "tollgate" enabled',
  );
  expect((await run('dry-run', '--controller', '8')).code).toBe(0);
  expect([gitlab.stateOf(7), gitlab.stateOf(8)]).toEqual(['enabled', 'dry_run']);
  expect((await aDesk(ONE, canary).run('dry-run')).out).toContain('Runner controller 7');
});

test('status changes nothing and tells the state as JSON, and what is not known as null', async () => {
  const { gitlab, run } = aDesk(ONE);
  const { code, out } = await run('status', '--json');
  expect(code).toBe(0);
  const unknown = { relays: null, relaysHeard: null, ifArmed: null, refusal: null };
  const scopes = { instance: true, runnerIds: [] };
  expect(JSON.parse(out)).toMatchObject({ ...ONE, ...unknown, armed: false, scopes });
  expect(gitlab.changes()).toBe(0);
});

test('without a scope nothing is armed: GitLab would ask about no job; runner scopes are told', async () => {
  const scopes = { instance: false, runnerIds: [] };
  const err = expect.stringContaining('glab runner-controller scope create 7 --instance');
  expect(await aDesk({ ...ONE, scopes }).leaves('enable', '--yes')).toEqual({
    code: 2,
    state: 'dry_run',
    err,
  });
  const armed = aDesk({ ...ONE, state: 'enabled', scopes });
  const status = await armed.run('status');
  expect(status.out).toContain('is enabled: it has no scope, so GitLab asks about no job');
  expect(JSON.parse((await armed.run('status', '--json')).out).armed).toBe(false);
  const some = aDesk({ ...ONE, scopes: { instance: false, runnerIds: [5, 10] } });
  expect((await some.run('status')).out).toContain('runners 5, 10; jobs of all others are out of scope');
});

test('a token that was used within the hour is no relay: one that wrote heartbeats and stopped refuses', async () => {
  const { flags, ...parts } = await books([{ atMs: 0 }]);
  const { leaves, run } = aDeskWith({ ...parts, answer: true }, ONE);
  const err = expect.stringContaining('no relay is there');
  expect(await leaves('enable', '--yes', ...flags)).toEqual({ code: 2, state: 'dry_run', err });
  expect((await run('status', ...flags)).out).toMatch(/none heard for \d+ min; its token was used within/);
});

test('before arming it is told which jobs would have failed, and somebody must agree', async () => {
  const { flags, ...parts } = await books([PROVEN, PROVEN]);
  const no = aDeskWith({ ...parts, answer: false }, ONE);
  const declined = await no.leaves('enable', ...flags);
  expect(declined).toMatchObject({ code: 2, state: 'dry_run' });
  expect(no.asked).toEqual(['Arm, although 2 of the last 14 jobs would have failed?']);
  expect(declined.err).toContain('If armed now: 2 of 14 jobs would have failed (14 %)');
  expect(declined.err).toMatch(/acme\/payments +images +2 +IMAGE_NOT_ALLOWED/);
  expect(declined.err).toContain('2 heard within two minutes, 16 streams');
  expect(declined.err).toContain('gitlab.binpb aa, proven');

  const nobody = aDeskWith(parts, ONE);
  const err = expect.stringContaining('add --yes to arm although 2 of the last 14 jobs would have failed');
  expect(await nobody.leaves('enable', ...flags)).toEqual({ code: 3, state: 'dry_run', err });
  expect(await nobody.leaves('enable', '--yes', ...flags)).toMatchObject({ code: 0, state: 'enabled' });
});

test('arming without a proof of both answers warns; --require-canary refuses; the contrary has to be agreed to', async () => {
  const { flags, opening, ...parts } = await books([PROVEN, PROVEN]);
  const proven: CanaryOutcome = {
    ...{ checkedAtMs: parts.nowMs(), admitted: 'proven', rejected: 'proven', runnerId: 9 },
    ...{ descriptors: 'aa', gitlabVersion: '19.4.0-ee' },
  };
  const deskOf = (outcome: CanaryOutcome | undefined) =>
    aDeskWith({ ...parts, open: opening(outcome), answer: true }, ONE);
  const never = deskOf(undefined);
  const refused = await never.leaves('enable', '--yes', '--require-canary', ...flags);
  const err = expect.stringContaining('Nothing was changed: never proven');
  expect(refused).toEqual({ code: 2, state: 'dry_run', err });
  const warned = await never.run('enable', '--yes', ...flags);
  expect([warned.code, warned.err.includes('Warning: never proven')]).toEqual([0, true]);

  const armed = await deskOf(proven).run('enable', '--yes', '--require-canary', ...flags);
  expect([armed.code, armed.err]).toEqual([0, '']);
  expect(armed.out).toContain(
    'answers  both answers proven on GitLab 19.4.0-ee with descriptors aa, just now',
  );
  const contrary = deskOf({ ...proven, rejected: 'contrary' });
  await contrary.run('enable', ...flags);
  expect(contrary.asked[0]).toContain('GitLab ran a rejected job or failed an admitted one');
});

test('a GitLab that answers yes and changes nothing is not believed; one without a licence has no such API', async () => {
  const { gitlab, run } = aDesk({ ...ONE, state: 'enabled' });
  gitlab.ignoreChanges();
  expect(await run('dry-run')).toMatchObject({
    code: 1,
    err: expect.stringContaining('it is still enabled'),
  });
  const none = await aDesk().run('status', '--controller', '7');
  expect([none.code, none.err]).toEqual([1, expect.stringContaining('an Ultimate licence')]);
});
