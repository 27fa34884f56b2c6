import { memorySessionStore } from '../../../support/tables/memory-session-store.ts';
import { sessionStoreContract } from './session-contract.ts';

sessionStoreContract(() => memorySessionStore());
