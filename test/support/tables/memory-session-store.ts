import { dynamoSessionStore } from '../../../functions/core/signin/dynamo-session-store.ts';
import type { SessionStore } from '../../../functions/core/signin/model.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';

export const memorySessionStore = (): SessionStore =>
  dynamoSessionStore({ table: new MemoryTable(), instance: 'gitlab.example.com' });
