import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Tests of real parts begin, then those that synthesize or draw many cases, and the quick ones fill what is left: a long
 * file at the end would keep one worker busy and the others waiting. A worker serves one project, so the two are not mixed.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ project, moduleId }: TestSpecification): number => {
      if (project.name === 'integ') return 0;
      return /\.property\.test|\/cdk\//.test(moduleId) ? 1 : 2;
    };
    return sorted.sort((one, other) => rank(one) - rank(other));
  }
}
