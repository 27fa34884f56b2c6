import { MemoryStore } from '../../../functions/core/ledger/memory-store.ts';
import { inboxContract } from './inbox-contract.ts';

inboxContract((instance) => new MemoryStore({ instance }));
