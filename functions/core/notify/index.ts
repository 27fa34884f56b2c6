/** What others may use of this folder; its README says what it promises. */
export {
  type Addressee,
  addresseeKey,
  addresseeOf,
  FINANCE,
  formerAddressee,
  type Ownership,
  ownAddressee,
  subjectChainOf,
  subjectLabel,
} from './addressee.ts';
export {
  BREAK_GLASS_PAGE,
  historyPagePath,
  jobPagePath,
  linkTo,
  REQUESTS_PAGE,
  shadowPagePath,
  subjectPagePath,
} from './console-links.ts';
export {
  MESSAGE_BYTES_MAX,
  MemoryNotifier,
  type Message,
  type MessageSeverity,
  type Notifier,
  NotifyError,
  subjectLine,
} from './notify.ts';
