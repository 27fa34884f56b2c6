import { memoryLimitTable } from '../../../support/tables/memory-limit-table.ts';
import { limitTableContract } from './contract.ts';

limitTableContract(() => memoryLimitTable());
