import { MemoryDirectoryTable } from '../../../../functions/core/directory/memory-directory-table.ts';
import { directoryTableContract } from './contract.ts';

directoryTableContract(() => new MemoryDirectoryTable());
