/** What others may use of this folder; its README says what it promises. */
export { type BooksReport, checkBooks } from './check-books.ts';
export { dynamoCounterMemory } from './counter-memory.ts';
export { dynamoSumLog, type SumLog } from './sum-log.ts';
