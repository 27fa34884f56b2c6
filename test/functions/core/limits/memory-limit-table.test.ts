import { MemoryLimitTable } from '../../../../functions/core/limits/memory-limit-table.ts';
import { limitTableContract } from './contract.ts';

limitTableContract(() => new MemoryLimitTable());
