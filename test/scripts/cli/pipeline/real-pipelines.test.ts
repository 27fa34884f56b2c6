import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { expandPipeline } from '../../../../scripts/cli/pipeline/expand-pipeline.ts';
import { jobNamed, names } from './folder.ts';

const fromRoot = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
const SHARED = fromRoot('../shared/data/pipelines/gitlab-runner');

// Only where the shared data is, which a clone of the project alone does not have.
describe.runIf(existsSync(SHARED))('GitLab Runner’s own pipeline', () => {
  const pipeline = existsSync(SHARED)
    ? expandPipeline(SHARED, { projectPath: 'gitlab-org/gitlab-runner' })
    : expandPipeline(fromRoot('scripts/local/pipelines/web-shop'));

  test('has its more than a hundred jobs, matrices by their values', () => {
    expect(pipeline.jobs).toHaveLength(119);
    expect(new Set(names(pipeline)).size).toBe(119);
    expect(names(pipeline).filter((name) => name.startsWith('package-deb'))).toEqual(
      ['deb64', 'debArm64', 'deb32', 'debArm32', 'debIbm', 'debRiscv64', 'debLoong64'].map(
        (pkg) => `package-deb: [${pkg}]`,
      ),
    );
    expect(names(pipeline)).toContain(
      'helper images: [windows-nanoserver-ltsc2019 windows-servercore-ltsc2019]',
    );
    expect(names(pipeline)).toContain('integration test with race 4/4');
  });

  test('has its images, tags, services and timeouts resolved', () => {
    expect(jobNamed(pipeline, 'go:lint')).toMatchObject({
      stage: 'qa',
      image: 'registry.gitlab.com/gitlab-org/ci-cd/runner-tools/runner-linters:2.12.2-go1.26.5',
      tags: ['functions-pilot-linux-amd64'],
      timeoutSeconds: 1_200,
    });
    expect(jobNamed(pipeline, 'unit test')).toMatchObject({
      tags: ['kubernetes_runner'],
      timeoutSeconds: 3_600,
    });
    expect(jobNamed(pipeline, 'runner images').services).toEqual([{ name: 'docker:29.7.2-dind' }]);
    expect(jobNamed(pipeline, 'windows 1809 unit tests 1/2').tags).toEqual(['windows-1809']);
    expectNothingUnresolved(pipeline.jobs);
  });

  test('names what needs the network, and only what follows from that is missing', () => {
    expect(pipeline.notRead.filter((what) => what.includes('is not in this folder'))).toHaveLength(5);
    expect(pipeline.bridges).toHaveLength(4);
    expect(pipeline.problems).toEqual([]);
    for (const { notRead = [] } of pipeline.jobs)
      expect(notRead.filter((what) => !pipeline.notRead.includes(what)).join()).toMatch(
        /^$|none of the files read/,
      );
  });
});

function expectNothingUnresolved(jobs: readonly unknown[]): void {
  for (const job of jobs) {
    const { image, services, tags } = job as {
      image?: string;
      services: readonly unknown[];
      tags: readonly string[];
    };
    expect(JSON.stringify({ image, services, tags })).not.toMatch(/\$|reference|undefined|"path"/);
    expect(tags.length).toBeGreaterThan(0);
  }
}
