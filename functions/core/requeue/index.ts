/** What others may use of this folder; its README says what it promises. */
export { requeueEntryOf, retryClaims } from './candidate.ts';
export {
  dynamoRequeueLists,
  type RequeueEntry,
  type RequeueList,
  type RequeueLists,
} from './requeue-list.ts';
