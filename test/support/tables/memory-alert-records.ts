import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { dynamoAlertRecords } from '../../../functions/core/thresholds/alert-records.ts';
import { manualClock } from '../ledger/test-clock.ts';

export const memoryAlertRecords = (clock = manualClock()) =>
  dynamoAlertRecords({ table: new MemoryTable(), instance: 'gitlab.example.com', clock, random: () => 0 });
