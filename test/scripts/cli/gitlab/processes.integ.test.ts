/** Set-up, rotation and teardown as people have them: 200 groups over real HTTP, and the newest GitLab by real processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { HOOK_URL, setupBench, someGroups } from './setup-bench.ts';

const bin = fileURLToPath(new URL('../../../../scripts/tollgate.mjs', import.meta.url));

async function aGitLab(version: '18.9' | '18.11' | '19.4') {
  const administration = { groups: someGroups(200) };
  const bench = setupBench({ version, administration, fetch, relay: false });
  const server = await bench.local.listen();
  onTestFinished(() => server.stop());
  const host = new URL(server.url).host;
  const inProcess = (...words: string[]) => bench.run(words.join(' '), server.url);
  const asProcess = async (...words: string[]) => {
    const args = [bin, 'gitlab', ...words, '--gitlab', server.url, '--token-file', 'token'];
    const child = spawn(process.execPath, args, {
      cwd: bench.root,
      env: { ...process.env, NO_COLOR: '1', TOLLGATE_DEBUG: '1' },
    });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const [code] = await once(child, 'close');
    expect(`${out}${err}`).not.toMatch(/glrct-|whsec_|glpat-/);
    for (const name of ['router-token', 'webhook-secrets', 'webhook-tokens']) {
      const value = bench.kept(name);
      if (value !== undefined) expect(`${out}${err}`).not.toContain(value);
    }
    return { code, out, err };
  };
  return { bench, tollgate: version === '19.4' ? asProcess : inProcess, host };
}

test.each(['18.9', '18.11', '19.4'] as const)(
  'GitLab %s with 200 groups, from nothing and back',
  async (version) => {
    const { bench, tollgate, host } = await aGitLab(version);
    const hooks = ['--webhook-url', HOOK_URL];
    const planned = await tollgate('setup', '--dry-run', ...hooks);
    expect([planned.code, bench.state().controllers]).toEqual([0, []]);
    const made = await tollgate('setup', ...hooks);
    expect([made.code, made.err, made.out.includes('made for 200 groups')]).toEqual([0, '', true]);
    const status = await tollgate('status', ...hooks, '--json');
    expect([status.code, JSON.parse(status.out).mode]).toEqual([0, 'look']);
    const first = bench.kept('router-token') ?? '';
    expect((await tollgate('rotate-token', '--wait', '0')).code).toBe(2);
    expect(bench.kept('router-token')).not.toBe(first);
    expect(bench.local.controllerTokens.use(first, bench.clock.nowMs())).toBe(true);
    bench.local.controllerTokens.use(bench.kept('router-token') ?? '', bench.clock.nowMs());
    expect((await tollgate('rotate-token', ...(version === '18.9' ? ['--seen'] : []))).code).toBe(0);
    expect(bench.local.controllerTokens.use(first, bench.clock.nowMs())).toBe(false);
    const gone = await tollgate('teardown', ...hooks, '--yes', '--confirm', host);
    expect([gone.code, bench.state().controllers, bench.state().hooks.flat()]).toEqual([0, [], []]);
  },
);
