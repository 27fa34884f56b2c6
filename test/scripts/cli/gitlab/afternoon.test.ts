/** From nothing to a controller in dry run and back, on two versions of GitLab, with a death at every call. */
import { expect, test } from 'vitest';
import { HOOK_URL, setupBench, someGroups } from './setup-bench.ts';

const VERSIONS = ['18.11', '19.4'] as const;
const SETUP = `setup --webhook-url ${HOOK_URL}`;
const TEARDOWN = `teardown --webhook-url ${HOOK_URL} --confirm gitlab.example.com`;

test.each(VERSIONS)(
  'GitLab %s: a dry run changes nothing, a second set-up finds all done; rotated, and all goes again',
  async (version) => {
    const bench = setupBench({ version });
    const empty = bench.state();
    const planned = await bench.run(`${SETUP} --dry-run`);
    expect(planned.code).toBe(0);
    expect(planned.out).toContain('there is no controller "tollgate"');
    expect(planned.out).toContain('there is none for 3 groups');
    expect(bench.state()).toEqual(empty);
    expect(bench.kept('router-token')).toBeUndefined();

    const looked = await bench.run(`status --webhook-url ${HOOK_URL}`);
    expect(looked.code).toBe(2);
    expect(looked.out).toContain('there is no controller "tollgate"');

    const first = await bench.run(SETUP);
    expect([first.code, first.err]).toEqual([0, '']);
    const signs = version === '19.4';
    const { controllers, hooks } = bench.state();
    expect(controllers).toMatchObject([
      { description: 'tollgate', state: 'dry_run', instanceScope: true, keptIsValid: true },
    ]);
    expect(controllers[0]?.tokens).toHaveLength(1);
    const hook = { events: [true, false], signedByKept: signs, tokenKept: !signs };
    expect(hooks).toEqual([10, 11, 12].map((id) => [{ ...hook, url: `${HOOK_URL}/${id}` }]));
    expect(bench.rightsOf('router-token')).toBe(0o600);
    expect(first.out).toContain('npm start -- --router wss://kas.gitlab.localhost');

    const done = bench.state();
    const again = await bench.run(SETUP);
    expect([again.code, bench.state()]).toEqual([0, done]);
    expect(again.out).not.toContain('done  ');
    const status = await bench.run(`status --webhook-url ${HOOK_URL}`);
    expect([status.code, status.out.match(/^wrong/m)]).toEqual([0, null]);

    const before = bench.kept('router-token');
    const rotated = await bench.run('rotate-token');
    expect([rotated.code, rotated.out]).toEqual([0, expect.stringContaining('revoked token 1')]);
    expect(bench.kept('router-token')).not.toBe(before);
    expect(bench.state().controllers).toMatchObject([{ tokens: [expect.any(String)], keptIsValid: true }]);

    const gone = await bench.run(TEARDOWN);
    expect([gone.code, bench.state()]).toEqual([0, { controllers: [], hooks: [[], [], []] }]);
    expect(gone.err).toContain('3 webhooks of groups');
    const nothing = await bench.run(TEARDOWN);
    expect([nothing.code, nothing.out]).toEqual([
      0,
      expect.stringContaining('nothing of Tollgate is left there'),
    ]);
  },
);

/** Kills one command at each of its calls, runs it again, and looks whether all is as if it had lived. */
async function killedEverywhere(
  version: (typeof VERSIONS)[number],
  before: readonly string[],
  command: string,
) {
  const options = { version, administration: { groups: someGroups(2) } };
  const alive = setupBench(options);
  for (const each of before) await alive.run(each);
  const { calls } = await alive.run(command);
  const wanted = alive.state();
  for (let at = 1; at <= calls; at += 1)
    for (const when of ['before', 'after'] as const) {
      const bench = setupBench(options);
      for (const each of before) await bench.run(each);
      bench.dieAt({ at, when });
      const died = await bench.run(command);
      expect(died.code, `${command} died ${when} call ${at}`).not.toBe(3);
      bench.dieAt(undefined);
      const again = await bench.run(command);
      expect([again.code, bench.state()], `${command} died ${when} call ${at}: ${again.out}`).toEqual([
        0,
        wanted,
      ]);
    }
  return calls;
}

test.each(VERSIONS)(
  'GitLab %s: what dies at any call ends the same when it is run again',
  async (version) => {
    expect(await killedEverywhere(version, [], SETUP)).toBeGreaterThan(15);
    expect(await killedEverywhere(version, [SETUP], 'rotate-token')).toBeGreaterThan(4);
    expect(await killedEverywhere(version, [SETUP], TEARDOWN)).toBeGreaterThan(8);
  },
);

test('the status names other controllers that jobs need', async () => {
  const bench = setupBench();
  await bench.run(SETUP);
  await bench.enableAnother('policy bot');
  expect((await bench.run('status')).out).toContain(
    'controller 2 "policy bot" is enabled: jobs start only if',
  );
});

test('a token is not revoked before a relay has used the one after it', async () => {
  const bench = setupBench({ relay: false });
  await bench.run(SETUP);
  const first = bench.local.controllerTokens.of(1).map(({ id }) => id);
  const waited = await bench.run('rotate-token --wait 1');
  expect([waited.code, waited.out.includes('no relay has used the new token yet')]).toEqual([2, true]);
  expect(bench.local.controllerTokens.of(1).map(({ id }) => id)).toEqual([...first, 2]);
  const status = await bench.run('status');
  expect(status.out).toContain('a rotation did not end: token 1 is still valid');
  bench.local.controllerTokens.use(bench.kept('router-token') ?? '', bench.clock.nowMs());
  const rotated = await bench.run('rotate-token --wait 0');
  expect([rotated.code, bench.local.controllerTokens.of(1).map(({ id }) => id)]).toEqual([0, [2]]);
});

test('a teardown asks for the name of the host, and changes nothing for another one', async () => {
  const wrong = setupBench({ typed: 'gitlab.example.org' });
  await wrong.run(SETUP);
  const before = wrong.state();
  const told = await wrong.run('teardown');
  expect([told.code, wrong.state()]).toEqual([2, before]);
  expect((await wrong.run('teardown --confirm gitlab.example.org')).code).toBe(3);
  const right = setupBench({ typed: 'gitlab.example.com' });
  await right.run(SETUP);
  expect((await right.run('teardown')).code).toBe(0);
  const nobody = setupBench();
  await nobody.run(SETUP);
  const refused = await nobody.run('teardown');
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('--confirm gitlab.example.com')]);
});
