import type { SessionStore } from '../../../functions/core/signin/dynamo-session-store.ts';
import { dynamoSessionStore } from '../../../functions/core/signin/dynamo-session-store.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';

export const memorySessionStore = (): SessionStore =>
  dynamoSessionStore({ table: new MemoryTable(), instance: 'gitlab.example.com' });
