/** What others may use of this folder; its README says what it promises. */
export { snsNotify } from './sns-notify.ts';
