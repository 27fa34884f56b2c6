import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runnerClassOf } from '../../../../policies/price.ts';
import { draftLimits, draftPolicy } from '../../../../scripts/cli/init/drafts.ts';
import { limitsIn, policyIn } from '../../../../scripts/policy/read-documents.ts';
import { parseYaml } from '../../../../scripts/policy/yaml-document.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { manager } from '../fleet/fleet-bench.ts';

const MONTH_MS = 30 * 86_400_000;
const tag = fc.oneof(
  // Some of them YAML takes for a number, a truth or nothing.
  fc.constantFrom('linux', 'gpu', 'docker', 'none', 'Linux', 'a-b', 'a', 'b', '2026', '0', 'true', 'null'),
  fc.string({ minLength: 1, maxLength: 6, unit: 'binary' }).filter((text) => text.trim() !== ''),
);

const fleet = fc
  .array(
    fc.record({
      tags: fc.uniqueArray(tag, { maxLength: 3 }),
      platform: fc.constantFrom('linux', 'windows', 'da:\nrwin'),
      runUntagged: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .map((runners) =>
    runners.map(({ tags, platform, runUntagged }, at) => ({
      runner: {
        id: at + 1,
        description: '',
        type: 'instance_type',
        paused: false,
        status: 'online',
        tags,
        runUntagged,
        locked: false,
        accessLevel: 'not_protected',
        ownerIds: [],
      } as const,
      managers: [{ ...manager(`s_${at}`, '19.0.0'), platform, architecture: 'amd64', status: 'online' }],
    })),
  );

const month = fc
  .array(
    fc.record({
      runnerId: fc.integer({ min: 1, max: 14 }),
      path: fc.constantFrom(
        'acme/api',
        'acme/payments/api',
        'acme/payments/eu/api',
        'beta/site',
        'jane/x',
        '',
      ),
      startMs: fc.integer({ min: NOW_MS - MONTH_MS, max: NOW_MS }),
      seconds: fc.integer({ min: 0, max: 1_000_000 }),
    }),
    { maxLength: 60 },
  )
  .map((jobs) => ({
    sinceMs: NOW_MS - MONTH_MS,
    untilMs: NOW_MS,
    jobs: jobs.map(({ seconds, ...job }) => ({
      ...job,
      projectId: 1,
      endMs: job.startMs + seconds * 1_000,
    })),
  }));

test('whatever the fleet and its jobs, the drafts are valid, and each runner is in the class that was drafted from it', () => {
  fc.assert(
    fc.property(fleet, month, (runners, ran) => {
      const { model: policy } = policyIn(
        parseYaml(draftPolicy(runners, ran, { currency: 'EUR', zone: 'UTC' }), 'policy.yaml'),
      );
      const groupIds = new Map([
        ['acme', 1],
        ['beta', 2],
        ['acme/payments', 3],
      ]);
      const drafted = parseYaml(draftLimits(ran, 'Europe/Berlin', groupIds), 'limits.yaml');
      const { model: limits } = limitsIn(drafted, policy);
      const all = [...limits.bySubject.values()].flat();
      expect(all.every(({ mode }) => mode === 'shadow')).toBe(true);

      const classOf = ({ runner }: (typeof runners)[number]): string =>
        runnerClassOf({ jobId: 1, runnerId: runner.id, runnerTags: runner.tags }, policy.prices).name;
      for (const one of runners)
        for (const other of runners) {
          const isSame = [...one.runner.tags].sort().join('\n') === [...other.runner.tags].sort().join('\n');
          expect(classOf(one) === classOf(other)).toBe(isSame);
        }
    }),
    { numRuns: propertyRuns(200) },
  );
});
