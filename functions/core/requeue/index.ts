/** Public exports of this folder; its README lists its promises. */
export {
  dynamoRequeueLists,
  type RequeueEntry,
  type RequeueList,
  type RequeueLists,
  requeueEntryOf,
  retryClaims,
} from './requeue-list.ts';
