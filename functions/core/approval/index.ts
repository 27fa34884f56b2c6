/** Public exports of this folder; its README lists its promises. */
export { type ApprovalCheck, approvalCheck, approvalPath } from './approval-link.ts';
