import { renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aRequest, ledgerBench } from '../ledger-bench.ts';

const images = (allow: readonly string[], mode = 'enforce') => ({
  rules: [{ id: 'images', kind: 'image', mode, on_missing: 'skip', allow }],
});

/** A bench with jobs of two images, one rejected; the policy in its folder then becomes another one. */
async function house() {
  const bench = ledgerBench({ policy: images(['alpine:*']) });
  for (const jobId of [1, 2, 3]) await bench.ask([aRequest(jobId, { image: 'alpine:3' })]);
  await bench.ask([aRequest(4, { image: 'golang:1' })]);
  await bench.ask([aRequest(5, { image: 'alpine:edge', variables: { KUBERNETES_CPU_REQUEST: '1' } })]);
  bench.clock.advance(60_000);
  return bench;
}

async function diffed(bench: Awaited<ReturnType<typeof house>>, args: readonly string[]) {
  const before = JSON.stringify([...bench.store.dump()]);
  const told = await bench.run('policy diff', args);
  expect(JSON.stringify([...bench.store.dump()])).toBe(before);
  return told;
}

/** Writes two policies, and gives the arguments that compare them. */
function policies(bench: Awaited<ReturnType<typeof house>>, from: object, to: object) {
  for (const [name, policy] of [
    ['old.yaml', from],
    ['new.yaml', to],
  ] as const) {
    bench.documents(policy, []);
    renameSync(`${bench.folder}/policy.yaml`, `${bench.folder}/${name}`);
  }
  return ['old.yaml', 'new.yaml', '--since', '1d'];
}

test('recorded jobs are asked of both policies, and what only one rejects is told by rule', async () => {
  const bench = await house();
  const args = policies(bench, images(['alpine:*']), images(['alpine:3', 'golang:*']));
  const { code, out } = await diffed(bench, [...args, '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    changes: [{ at: 'rules.images.allow', effect: 'changes' }],
    ledger: 'the test ledger',
    recorded: {
      jobs: 5,
      unrecorded: 0,
      variablesLost: 1,
      newlyRejected: 1,
      newlyAdmitted: 1,
      byRule: [
        { rule: 'images', change: 'passes', jobs: 1, examples: [4] },
        { rule: 'images', change: 'rejects', jobs: 1, examples: [5] },
      ],
    },
  });
  expect((await diffed(bench, args)).out).toContain(
    '5 recorded jobs (the test ledger) asked again: 1 would newly be rejected by a rule, 1 no longer.\n' +
      '  images: 1 no longer rejected, e.g. 4\n' +
      '  images: 1 newly rejected, e.g. 5\n',
  );
});
