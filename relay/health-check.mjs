/** The container's health check. Exits with 0 if the relay has a stream at the router. */
const port = process.env.TOLLGATE_HEALTH_PORT || '8081';
const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(3_000) }).catch(
  () => undefined,
);
process.exit(answer?.ok ? 0 : 1);
