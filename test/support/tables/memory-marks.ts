import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { dynamoParameterMarks } from '../../../functions/ssm-limits/dynamo-marks.ts';
import type { Marks } from '../../../functions/ssm-limits/marks.ts';
import { SsmLimitsError } from '../../../functions/ssm-limits/ssm-limits-error.ts';
import { type LostAnswer, withLostAnswers } from './lost-answers.ts';

export type MarksOperation = keyof Marks;

export const memoryMarks = (fault: (operation: MarksOperation) => LostAnswer = () => undefined): Marks =>
  withLostAnswers(
    dynamoParameterMarks({
      table: new MemoryTable(),
      instance: 'gitlab.example.com',
      clock: { nowMs: () => 0 },
    }),
    fault,
    (why) => new SsmLimitsError('marks_unavailable', why),
  );
