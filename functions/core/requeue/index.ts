/** What others may use of this folder; its README says what it promises. */
export { requeueEntryOf } from './candidate.ts';
export {
  dynamoRequeueLists,
  type RequeueEntry,
  type RequeueList,
  type RequeueLists,
  type TakenAmount,
} from './requeue-list.ts';
