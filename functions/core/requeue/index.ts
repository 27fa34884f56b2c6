/** Public exports of this folder; its README lists its promises. */
export { requeueEntryOf, retryClaims } from './candidate.ts';
export {
  dynamoRequeueLists,
  type RequeueEntry,
  type RequeueList,
  type RequeueLists,
} from './requeue-list.ts';
