import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expandPipeline } from '../../../../scripts/cli/pipeline/expand-pipeline.ts';
import { knownExpander } from '../../../../scripts/cli/pipeline/variables.ts';
import { ORACLE_RUNS } from './oracle/runs.ts';

const FOLDER = join(import.meta.dirname, 'oracle');
const pipelines = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());

describe.each(pipelines.map(({ name }) => name))(
  'the pipeline %s comes to what gitlab-ci-local recorded',
  (name) => {
    const folder = join(FOLDER, name);
    const expected = readFileSync(join(folder, 'expected.txt'), 'utf8').trimEnd().split('\n');

    test.each(ORACLE_RUNS)('$name', (run) => {
      const { ref, source } = run;
      const pipeline = expandPipeline(folder, {
        ref,
        source,
        projectPath: 'acme/app',
        predefined: { CI_DEFAULT_BRANCH: 'main' },
        // Nobody sets it but some of the rules.
        given: { KIND: null },
      });
      expect(pipeline.problems).toEqual([]);
      expect(pipeline.jobs.filter(({ dependsOn }) => dependsOn !== undefined)).toEqual([]);
      const jobs = pipeline.jobs.map((job) => {
        const expand = knownExpander(job.variables);
        const { SIZE = '', IMAGE = '', KIND = '', REGION } = job.variables;
        return [run.name, job.name, expand(REGION ?? SIZE), expand(IMAGE), expand(KIND)].join('|');
      });
      const recorded = expected.filter((line) => line.startsWith(`${run.name}|`));
      expect(jobs.sort()).toEqual(recorded.sort());
    });
  },
);
