import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { dynamoAlertMarks } from '../../../functions/core/thresholds/alert-marks.ts';
import { manualClock } from '../ledger/test-clock.ts';

/** What owners were told, as a deployment notes it. */
export const memoryAlertMarks = (clock = manualClock()) =>
  dynamoAlertMarks({ table: new MemoryTable(), instance: 'gitlab.example.com', clock, random: () => 0 });
