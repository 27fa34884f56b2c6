/** What others may use of this folder; its README says what it promises. */
export { type ApprovalCheck, approvalCheck, approvalPath } from './approval-link.ts';
