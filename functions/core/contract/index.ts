/** What others may use of this folder; its README says what it promises. */
export {
  ADMISSIONS_PATH,
  type AdmissionAnswer,
  type AdmissionsRequest,
  type AdmissionsResponse,
  BATCH_BYTES_MAX,
  BODY_BYTES_MAX,
  CONTENDED_MAX,
  type ContendedCounter,
  DIRECTORY_NAMES_MAX,
  DIRECTORY_PARTS_MAX,
  DIRECTORY_PATH,
  type DirectoryRequest,
  type DirectoryResponse,
  type DirectoryRow,
  HEALTH_PATH,
  type JobDecision,
  LINES_MAX,
  type LimitRoom,
  type ProblemsResponse,
  REQUESTS_MAX,
  ROOMS_MAX,
  UNMETERED_PATH,
  type UnmeteredAnswer,
  type UnmeteredResponse,
  type UnmeteredResult,
  type WaitingAnswer,
  type WaitingTerms,
} from './admissions.ts';
export { emfLine, isDeployment, type Metric } from './emf-document.ts';
export { type Beat, type BeatSchema, WAITING_LINES_MAX, type WaitingLine } from './heartbeat.ts';
export { networkFailure, notReached, PROXY_CREDENTIALS } from './network-failure.ts';
export { NodeSha256 } from './node-sha256.ts';
export { withProxyCredentials } from './proxy-credentials.ts';
