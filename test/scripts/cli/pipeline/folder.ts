import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expandPipeline } from '../../../../scripts/cli/pipeline/expand-pipeline.ts';
import type { ExpandedJob, ExpandedPipeline } from '../../../../scripts/cli/pipeline/expanded-pipeline.ts';
import type { KnownRun } from '../../../../scripts/cli/pipeline/known-run.ts';

export function expanded(
  files: Readonly<Record<string, string>> | string,
  run: KnownRun = {},
): ExpandedPipeline {
  const folder = mkdtempSync(join(tmpdir(), 'pipeline-'));
  try {
    for (const [path, text] of Object.entries(
      typeof files === 'string' ? { '.gitlab-ci.yml': files } : files,
    )) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return expandPipeline(folder, run);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const names = ({ jobs }: ExpandedPipeline): string[] => jobs.map(({ name }) => name);

export function jobNamed({ jobs }: ExpandedPipeline, name: string): ExpandedJob {
  const found = jobs.find((job) => job.name === name);
  if (found === undefined) throw new Error(`no job ${name} among ${jobs.map((job) => job.name).join(', ')}`);
  return found;
}
