import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CANARY_DESCRIPTION } from '../../../../functions/core/gitlab/administration.ts';
import type { CanaryOutcome } from '../../../../functions/core/ledger/controller.ts';
import type { RelayBeat } from '../../../../functions/core/store/health-items.ts';
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
  const run = (...words: readonly string[]) =>
    runDesk(
      ['controller', ...words, '--gitlab', 'https://gitlab.example.com', '--token-file', 'token'],
      root,
      {
        ...surrounded({
          ...gitlab.deps,
          open: parts.open ?? noBooks,
          answer: (question) => {
            asked.push(question);
            return parts.answer;
          },
        }),
        ...(parts.nowMs !== undefined && { nowMs: parts.nowMs }),
      },
    );
  return { gitlab, run, asked };
}

const aDesk = (...controllers: readonly FakeController[]) => aDeskWith({ answer: true }, ...controllers);

/** Books of fourteen jobs in dry run, two of which were rejected, and relays that write beside them. */
async function books(beats: readonly Partial<RelayBeat>[] = []) {
  const rules = [{ id: 'images', kind: 'image', mode: 'enforce', allow: ['alpine:*'] }];
  const bench = ledgerBench({ policy: { rules } });
  for (let jobId = 1; jobId <= 14; jobId += 1) {
    bench.clock.advance(60_000);
    await bench.ask([
      aRequest(jobId, jobId % 7 === 0 ? { image: 'ubuntu:26.04', jobName: `b${jobId}` } : {}),
    ]);
  }
  bench.clock.advance(60_000);
  const plain = bench.opening();
  const open: OpenLedger = async (flags, io) => ({
    ...(await plain(flags, io)),
    relayBeats: async () =>
      beats.map((beat, index) => ({
        relayId: `relay-${index}`,
        atMs: bench.clock.nowMs() - 10_000,
        openStreams: 8,
        ...beat,
      })),
  });
  return { open, root: `${bench.folder}/`, nowMs: bench.clock.nowMs, flags: bench.flags };
}

test.each([
  ['dry-run', 'enabled', 'dry_run'],
  ['disable', 'enabled', 'disabled'],
  ['enable', 'dry_run', 'enabled'],
] as const)('%s makes a controller that is %s %s', async (word, before, after) => {
  const { gitlab, run } = aDesk({ ...ONE, state: before });
  const { code, out } = await run(word);
  expect({ code, state: gitlab.stateOf(7) }).toEqual({ code: 0, state: after });
  expect(out).toContain(`Runner controller 7 "tollgate" is ${after}`);
});

test('arming is refused while no relay is connected, and nothing is changed', async () => {
  const { gitlab, run } = aDesk({ ...ONE, connected: false });
  const { code, err } = await run('enable');
  expect({ code, state: gitlab.stateOf(7) }).toEqual({ code: 2, state: 'dry_run' });
  expect(err).toContain('--without-relay');
  expect((await run('enable', '--without-relay')).code).toBe(0);
  expect(gitlab.stateOf(7)).toBe('enabled');
});

test('among several controllers the wrong one is never changed: the number must be told', async () => {
  const { gitlab, run } = aDesk({ ...ONE, state: 'enabled' }, { ...ONE, id: 8, state: 'enabled' });
  const { code, err } = await run('dry-run');
  expect(code).toBe(3);
  expect(err).toContain(
    '--controller is missing: GitLab has several, 7 "tollgate" enabled, 8 "tollgate" enabled',
  );
  expect((await run('dry-run', '--controller', '8')).code).toBe(0);
  expect([gitlab.stateOf(7), gitlab.stateOf(8)]).toEqual(['enabled', 'dry_run']);
});

test('status changes nothing and tells the state as JSON, and what is not known as null', async () => {
  const { gitlab, run } = aDesk(ONE);
  const { code, out } = await run('status', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    ...ONE,
    armed: false,
    scopes: { instance: true, runnerIds: [] },
    relays: null,
    relaysHeard: null,
    ifArmed: null,
    refusal: null,
  });
  expect(gitlab.changes()).toBe(0);
});

test('without a scope nothing is armed: GitLab would ask about no job', async () => {
  const scopes = { instance: false, runnerIds: [] };
  const { gitlab, run } = aDesk({ ...ONE, scopes });
  const { code, err } = await run('enable', '--yes');
  expect({ code, state: gitlab.stateOf(7) }).toEqual({ code: 2, state: 'dry_run' });
  expect(err).toContain('glab runner-controller scope create 7 --instance');
  const armed = aDesk({ ...ONE, state: 'enabled', scopes });
  const status = await armed.run('status');
  expect(status.out).toContain('is enabled: it has no scope, so GitLab asks about no job');
  expect(status.out).not.toContain('asks and obeys');
  expect(JSON.parse((await armed.run('status', '--json')).out).armed).toBe(false);
});

test('runner scopes are told, with what they leave out', async () => {
  const { run } = aDesk({ ...ONE, scopes: { instance: false, runnerIds: [5, 10] } });
  expect((await run('status')).out).toContain('runners 5, 10; jobs of all others are out of scope');
});

test('GitLab before 18.10 does not say whether a relay is connected: unknown, not no', async () => {
  const { connected: _, ...old } = ONE;
  const { gitlab, run, asked } = aDesk(old);
  const status = await run('status', '--json');
  expect(JSON.parse(status.out)).toMatchObject({ connected: null, refusal: null });
  expect((await run('enable')).code).toBe(0);
  expect(asked[0]).toContain('whether a relay is connected is not known');
  expect(gitlab.stateOf(7)).toBe('enabled');
});

test('a token that was used within the hour is no relay: one that wrote heartbeats and stopped refuses', async () => {
  const { flags, ...parts } = await books([{ atMs: 0 }]);
  const { gitlab, run } = aDeskWith({ ...parts, answer: true }, ONE);
  const { code, err } = await run('enable', '--yes', ...flags);
  expect({ code, state: gitlab.stateOf(7) }).toEqual({ code: 2, state: 'dry_run' });
  expect(err).toContain('no relay is there');
  expect((await run('status', ...flags)).out).toMatch(
    /none heard for \d+ min; its token was used within the last hour/,
  );
});

test('before arming it is told which jobs would have failed, and somebody must agree', async () => {
  const proven = { schema: { source: 'gitlab.binpb', hash: 'a1b2c3', standing: 'proven' } };
  const { flags, ...parts } = await books([proven, proven]);
  const no = aDeskWith({ ...parts, answer: false }, ONE);
  const declined = await no.run('enable', ...flags);
  expect({ code: declined.code, state: no.gitlab.stateOf(7) }).toEqual({ code: 2, state: 'dry_run' });
  expect(no.asked).toEqual(['Arm, although 2 of the last 14 jobs would have failed?']);
  expect(declined.err).toContain('If armed now: 2 of 14 jobs would have failed (14 %)');
  expect(declined.err).toMatch(/acme\/payments +images +2 +0 +IMAGE_NOT_ALLOWED/);
  expect(declined.err).toContain('2 heard within two minutes, 16 streams');
  expect(declined.err).toContain('gitlab.binpb a1b2c3, proven');

  const nobody = aDeskWith(parts, ONE);
  const unasked = await nobody.run('enable', ...flags);
  expect({ code: unasked.code, state: nobody.gitlab.stateOf(7) }).toEqual({ code: 3, state: 'dry_run' });
  expect(unasked.err).toContain('add --yes to arm although 2 of the last 14 jobs would have failed');
  expect((await nobody.run('enable', '--yes', ...flags)).code).toBe(0);
  expect(nobody.gitlab.stateOf(7)).toBe('enabled');
});

test('descriptors that come along, or that nothing has proven, are told before arming', async () => {
  const { flags, ...parts } = await books([
    { schema: { source: 'built-in descriptors', placeholder: true } },
  ]);
  const desk = aDeskWith({ ...parts, answer: false }, ONE);
  await desk.run('enable', ...flags);
  expect(desk.asked[0]).toContain('a relay reads questions with the descriptors that come along');
  const silent = await books([{}]);
  const other = aDeskWith({ ...silent, answer: false }, ONE);
  await other.run('enable', ...silent.flags);
  expect(other.asked[0]).toContain('no relay says that its descriptors were proven');
});

test('nothing is asked where all is known and no job would have failed', async () => {
  const bench = ledgerBench({});
  await bench.ask([aRequest(1)]);
  bench.clock.advance(60_000);
  const schema = { source: 'gitlab.binpb', standing: 'proven' };
  const plain = bench.opening();
  const open: OpenLedger = async (flags, io) => ({
    ...(await plain(flags, io)),
    relayBeats: async () => [{ relayId: 'r', atMs: bench.clock.nowMs(), openStreams: 8, schema }],
  });
  const desk = aDeskWith({ open, root: `${bench.folder}/`, nowMs: bench.clock.nowMs }, ONE);
  expect((await desk.run('enable', ...bench.flags)).code).toBe(0);
  expect({ asked: desk.asked, state: desk.gitlab.stateOf(7) }).toEqual({ asked: [], state: 'enabled' });
});

test('arming without a proof of both answers warns; --require-canary refuses; the contrary has to be agreed to', async () => {
  const schema = { source: 'gitlab.binpb', hash: 'aa', standing: 'proven' };
  const { flags, open: plain, ...parts } = await books([{ schema }, { schema }]);
  const proven: CanaryOutcome = {
    ...{ checkedAtMs: parts.nowMs(), admitted: 'proven', rejected: 'proven', runnerId: 9 },
    ...{ descriptors: 'aa', gitlabVersion: '19.4.0-ee' },
  };
  const deskOf = (outcome: CanaryOutcome | undefined) => {
    const open: OpenLedger = async (...asked) => ({
      ...(await plain(...asked)),
      canary: async () => outcome,
    });
    return aDeskWith({ ...parts, open, answer: true }, ONE);
  };
  const never = deskOf(undefined);
  const refused = await never.run('enable', '--yes', '--require-canary', ...flags);
  expect([refused.code, never.gitlab.stateOf(7)]).toEqual([2, 'dry_run']);
  expect(refused.err).toContain('Nothing was changed: never proven');
  const warned = await never.run('enable', '--yes', ...flags);
  expect([warned.code, warned.err.includes('Warning: never proven')]).toEqual([0, true]);
  expect(warned.err).toContain('tollgate gitlab canary proves both');

  const right = deskOf(proven);
  const armed = await right.run('enable', '--yes', '--require-canary', ...flags);
  expect([armed.code, armed.err]).toEqual([0, '']);
  expect(armed.out).toContain('answers  both answers proven on GitLab 19.4.0-ee with descriptors aa, lately');
  const old = deskOf({ ...proven, gitlabVersion: '19.3.2-ee' });
  const json = await old.run('status', '--json', ...flags);
  expect(JSON.parse(json.out).canary).toMatchObject({
    severity: 'warning',
    text: expect.stringContaining('not proven since GitLab became 19.4.0-ee'),
  });
  const contrary = deskOf({ ...proven, rejected: 'contrary' });
  await contrary.run('enable', ...flags);
  expect(contrary.asked[0]).toContain('GitLab takes one of our answers for the other');
});

test('a canary that sings now is not taken for a controller of ours', async () => {
  const { run } = aDesk(ONE, { ...ONE, id: 8, description: CANARY_DESCRIPTION, state: 'enabled' });
  const { code, out } = await run('dry-run');
  expect([code, out.includes('Runner controller 7')]).toEqual([0, true]);
});

test('a token without rights is told what it needs, and never shown', async () => {
  const { gitlab, run } = aDesk(ONE);
  gitlab.refuseChanges();
  const { code, err } = await run('disable');
  expect(code).toBe(1);
  expect(err).toContain("it needs an administrator's token of scope api");
  expect(err).not.toContain('glpat');
});

test('a GitLab that answers yes and changes nothing is not believed', async () => {
  const { gitlab, run } = aDesk({ ...ONE, state: 'enabled' });
  gitlab.ignoreChanges();
  const { code, err } = await run('dry-run');
  expect(code).toBe(1);
  expect(err).toContain('it is still enabled');
});

test('without a licence GitLab has no such API: the message says where to look', async () => {
  const { code, err } = await aDesk().run('status', '--controller', '7');
  expect(code).toBe(1);
  expect(err).toContain('an Ultimate licence');
});
