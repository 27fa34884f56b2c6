/** Books belong to one GitLab: a command that names another one never reads those of the demo. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { cloneHere } from '../../../support/clone.ts';

const TOKEN = 'glpat-administrator';
const NONE =
  /has books of gitlab\.local, and none of 127\.0\.0\.1; name the table of 127\.0\.0\.1 with --ledger/;

test('after the demo, no command that names a GitLab reads the demo’s books', async () => {
  using clone = cloneHere();
  writeFileSync(join(clone.folder, 'token'), `${TOKEN}\n`);
  const gitlab = createLocalGitLab({
    random: () => 0.5,
    token: TOKEN,
    version: '18.9',
    controllers: [{ id: 7, description: 'tollgate', state: 'dry_run', instanceScope: true }],
  });
  const served = await gitlab.listen();
  try {
    const demo = await clone.sh('npm start --silent -- --jobs 5 --rate 100 --json');
    expect([demo.code, demo.err]).toEqual([0, '']);
    const there = `--gitlab ${served.url} --token-file token`;
    const ask = (words: string) => clone.sh(`node scripts/tollgate.mjs ${words} ${there}`);

    const status = await ask('controller status --json');
    expect(status.code).toBe(0);
    const { ifArmed, doubts } = JSON.parse(status.out);
    expect({ ifArmed, doubts }).toEqual({
      ifArmed: null,
      doubts: expect.arrayContaining([expect.stringMatching(NONE)]),
    });
    const enable = await ask('controller enable');
    expect({ code: enable.code, state: gitlab.controller(7)?.state }).toEqual({ code: 3, state: 'dry_run' });
    expect(enable.err).toMatch(NONE);

    for (const words of [
      'proof',
      'reconcile --dry-run',
      'directory sync',
      'doctor',
      'coverage',
      'audit --month 2026-11',
    ]) {
      const { code, out, err } = await ask(words);
      expect({ words, code, out, err }).toEqual({
        words,
        code: 3,
        out: '',
        err: expect.stringMatching(NONE),
      });
    }
    // Whoever says that both are one GitLab is believed.
    const named = await ask('controller status --json --instance gitlab.local');
    expect(JSON.parse(named.out).ifArmed).toMatchObject({ jobs: 5 });
  } finally {
    await served.stop();
    gitlab.stop();
  }
});
