import type { SessionStore } from '../../../functions/core/signin/dynamo-session-store.ts';
import { dynamoSessionStore } from '../../../functions/core/signin/dynamo-session-store.ts';
import type { Session } from '../../../functions/core/signin/model.ts';
import { MemoryTable } from '../../../functions/core/store/memory-table.ts';

export const memorySessionStore = (): SessionStore =>
  dynamoSessionStore({ table: new MemoryTable(), instance: 'gitlab.example.com' });

export const SESSION: Session = {
  userId: 42,
  username: 'fin',
  name: 'Fin Anz ☃',
  roles: { admin: false, finance: true, ownedGroupIds: [], viewerGroupIds: [101, 2_147_483_648] },
  rolesReadAtMs: 1_795_262_400_000,
  seenAtMs: 1_795_262_400_001,
  endsAtMs: 1_795_298_400_000,
};
