import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Tests of real parts begin, the quick ones fill what is left: a long file at the end would keep one worker busy and
 * the others waiting. A worker serves one project, so the two are not mixed.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ project }: TestSpecification): boolean => project.name === 'integ';
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}
