import { MemoryStore } from '../../../../functions/core/ledger/memory-store.ts';
import { ledgerContract } from './contract.ts';

ledgerContract((instance, clock) => new MemoryStore({ instance, clock }));
