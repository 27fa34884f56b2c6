import { MemoryLimitTable } from '../../../functions/limits/memory-limit-table.ts';
import { limitTableContract } from './contract.ts';

limitTableContract(() => new MemoryLimitTable());
