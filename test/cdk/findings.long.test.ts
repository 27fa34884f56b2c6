import { CfnGuardValidator } from '@cdklabs/cdk-validator-cfnguard';
import { AwsSolutionsChecks } from 'cdk-nag';
import { beforeAll, describe, expect, test } from 'vitest';
import { ACKNOWLEDGED, type Acknowledged } from './acknowledged.ts';
import { A_CONSOLE, DEFAULTS, PRIVATE, type Synthesized, synthesize } from './synthesized.ts';

const CONSOLE = DEFAULTS.map((each) => ({ ...each, console: A_CONSOLE }));

interface Finding {
  readonly rule: string;
  readonly where: string;
}

/** Guard writes megabytes about a template. */
const GUARD_OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

const nagged = ({ app }: Synthesized): readonly Finding[] =>
  new AwsSolutionsChecks(app)
    .validateScope(app)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => ({ rule: ruleName, where: constructPath ?? '' })),
    );

const guarded = ({ app, stacks }: Synthesized): readonly Finding[] =>
  new CfnGuardValidator({ maxBuffer: GUARD_OUTPUT_BYTES_MAX })
    .validate({ templatePaths: stacks.map(({ file }) => file), appConstruct: app })
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ resourceLogicalId }) => ({ rule: ruleName, where: resourceLogicalId })),
    );

const explains = ([rule, where]: Acknowledged, finding: Finding): boolean =>
  (typeof rule === 'string' ? rule === finding.rule : rule.test(finding.rule)) && where.test(finding.where);

describe('cdk-nag and CloudFormation Guard', () => {
  const found: Finding[] = [];
  const bySettings = new Map<string, readonly Finding[]>();

  beforeAll(() => {
    for (const [name, deployments] of Object.entries({ CONSOLE, PRIVATE })) {
      const synthesized = synthesize(deployments);
      const findings = [...nagged(synthesized), ...guarded(synthesized)];
      bySettings.set(name, findings);
      found.push(...findings);
    }
  });

  test.each(['CONSOLE', 'PRIVATE'])('find nothing in %s but what is explained', (name) => {
    const unexplained = bySettings
      .get(name)
      ?.filter((finding) => !ACKNOWLEDGED.some((each) => explains(each, finding)));
    expect(unexplained).toEqual([]);
  });

  test('no explanation outlives its finding', () => {
    const idle = ACKNOWLEDGED.filter((each) => !found.some((finding) => explains(each, finding)));
    expect(idle).toEqual([]);
  });
});
