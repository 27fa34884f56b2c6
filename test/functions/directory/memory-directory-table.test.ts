import { MemoryDirectoryTable } from '../../../functions/directory/memory-directory-table.ts';
import { directoryTableContract } from './contract.ts';

directoryTableContract(() => new MemoryDirectoryTable());
