import { MemoryTable } from '../../../functions/core/store/memory-table.ts';
import { requeueContract } from './requeue-contract.ts';

const table = new MemoryTable();

requeueContract({
  table: () => table,
  wayTo: async ({ fetch }) => ({ baseUrl: 'http://gitlab.localhost', fetch }),
});
