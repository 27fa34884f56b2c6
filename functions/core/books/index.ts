/** What others may use of this folder; its README says what it promises. */
export { type BooksReport, checkBooks } from './check-books.ts';
export { dynamoCounterMemory } from './counter-memory.ts';
export { type CounterSheet, type CounterSheetStore, dynamoCounterSheet } from './counter-sheet.ts';
export { addToCounterSheet, completeCounterSheet, keepCounterSheet } from './keep-counter-sheet.ts';
export { dynamoSumLog, type SumLog } from './sum-log.ts';
