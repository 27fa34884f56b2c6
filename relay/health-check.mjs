/** What the container's health check runs: 0 if the relay beside it has a stream at the router. */
const port = process.env.TOLLGATE_HEALTH_PORT || '8081';
const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(3_000) }).catch(
  () => undefined,
);
process.exit(answer?.ok ? 0 : 1);
