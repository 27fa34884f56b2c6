import { memoryDirectoryTable } from '../../../support/tables/memory-directory-table.ts';
import { directoryTableContract } from './contract.ts';

directoryTableContract(() => memoryDirectoryTable());
