import {
  type LocalRouter,
  type LocalRouterOptions,
  startLocalRouter,
} from '../../../scripts/local/router/local-router.ts';

/** Long enough for any machine: what is about something else than time never meets the limit. */
export const PATIENT_MS = 300_000;

/** The local router for tests that are not about its patience: on a busy machine it waits for as long as that takes. */
export const patientRouter = (options: LocalRouterOptions): Promise<LocalRouter> =>
  startLocalRouter({ findTimeoutMs: PATIENT_MS, decisionTimeoutMs: PATIENT_MS, ...options });
